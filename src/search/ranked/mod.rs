mod stem;
