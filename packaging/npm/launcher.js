#!/usr/bin/env node
// Starts the program of this machine's platform package with the same arguments, input and output.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { version, optionalDependencies } = require("../package.json");

const platform = `${process.platform}-${process.arch}`;
const name = `@saddlebag/${platform}`;

function program() {
  if (!Object.hasOwn(optionalDependencies, name)) {
    const known = Object.keys(optionalDependencies).map((known) => known.split("/")[1]);
    fail(
      `there is no package for ${platform}; there are packages for ${known.join(", ")}`,
      "with Rust installed, `cargo install saddlebag-cli` builds the program for other platforms",
    );
  }
  const file = process.platform === "win32" ? "saddlebag.exe" : "saddlebag";
  try {
    return require.resolve(`${name}/bin/${file}`);
  } catch {
    fail(
      `the package ${name} is not installed`,
      `npm leaves it out with \`--omit=optional\`; install it with \`npm install ${name}@${version}\``,
    );
  }
}

function fail(problem, wayOut) {
  process.stderr.write(`error: ${problem}\n  help: ${wayOut}\n`);
  // The program's code for a failure: 1 means that nothing was found.
  process.exit(3);
}

const path = program();
const child = spawn(path, process.argv.slice(2), { stdio: "inherit", windowsHide: true });

// A signal ends the program, and the program's end ends the launcher.
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
const pass = (signal) => child.kill(signal);
for (const signal of signals) process.on(signal, pass);

child.on("error", (error) => fail(`cannot start ${path}: ${error.message}`, "install the package again"));
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exitCode = code;
    return;
  }
  for (const passed of signals) process.removeListener(passed, pass);
  // If the launcher survives the signal, it ends as a shell reports it.
  process.exitCode = 128 + (constants.signals[signal] ?? 0);
  process.kill(process.pid, signal);
});
