//! The verbs of linked notes: `link`, `related`, `rename` and `unlinked-mentions`.

use super::types::ItemsCall;
use crate::notebook::{Link, NotebookCall, Related, Rename, UnlinkedMentions};
use crate::request::{Request, Run};
use saddlebag_protocol::Error;

macro_rules! of_notes {
    ($($verb:ident),*) => {$(
        impl Run<ItemsCall<'_>> for $verb {
            async fn run(self, with: &ItemsCall<'_>) -> Result<<Self as Request>::Reply, Error> {
                self.run(&NotebookCall { call: with.call, notebook: with.notebook }).await
            }
        }
    )*};
}

of_notes!(Link, Related, Rename, UnlinkedMentions);
