//! Memory that requests may have together.
//!
//! Most requests need a few kilobytes, and take them. What has to have a large document in memory takes a share of one
//! budget first, and waits until there is one: so it is the budget that bounds the daemon's memory, and not the number of
//! those who ask. A share is held until the response is made; a response that is large lies in a file by then
//! ([`spool`](crate::spool)), so that nobody holds a share by reading slowly.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::jsonapi::{ApiError, Result};

/// All shares together, in bytes.
const TOTAL: u64 = 64 << 20;
/// The size of a permit.
const UNIT: u64 = 1024;
/// How long a request waits for a share.
const PATIENCE: Duration = Duration::from_secs(30);

/// The budget.
#[derive(Clone)]
pub(crate) struct Budget {
    permits: Arc<Semaphore>,
    patience: Duration,
}

/// A share of it.
pub(crate) struct Share(OwnedSemaphorePermit);

tokio::task_local! {
    /// What the request has, until its response is made.
    static HELD: RefCell<Vec<Share>>;
}

/// Does the work of a request, and gives back all that it had then.
pub(crate) async fn request<F: Future>(work: F) -> F::Output {
    HELD.scope(RefCell::default(), work).await
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(PATIENCE)
    }
}

/// Gives back what the request has, before its response: what it was for is done.
pub(crate) fn give_back() {
    let _ = HELD.try_with(|held| held.borrow_mut().clear());
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.clamp(1, TOTAL).div_ceil(UNIT)).unwrap_or(u32::MAX)
}

impl Budget {
    fn new(patience: Duration) -> Self {
        let all = usize::try_from(TOTAL / UNIT).unwrap_or(usize::MAX);
        Self { permits: Arc::new(Semaphore::new(all)), patience }
    }

    /// A share of so many bytes; all there are, for what needs more.
    ///
    /// # Errors
    /// 503 when there is none for long; 422 when the request has so much already that this can't be had besides.
    pub(crate) async fn take(&self, bytes: u64) -> Result<Share> {
        let wanted = units(bytes);
        let held = HELD.try_with(|held| held.borrow().iter().map(|share| share.0.num_permits()).sum());
        let held: usize = held.unwrap_or_default();
        if held + wanted as usize > units(TOTAL) as usize {
            return Err(ApiError::not_supported(
                "the answer would be too large: ask for less at once, with page[size] or without include",
            ));
        }
        let taken =
            tokio::time::timeout(self.patience, self.permits.clone().acquire_many_owned(wanted)).await;
        match taken {
            Ok(Ok(permit)) => Ok(Share(permit)),
            Ok(Err(_)) | Err(_) => Err(ApiError::busy()),
        }
    }
}

impl Share {
    /// Holds as much of it as so many bytes need until the response is made, and gives the rest back.
    pub(crate) fn keep(mut self, bytes: u64) {
        let more = self.0.num_permits().saturating_sub(units(bytes) as usize);
        drop(self.0.split(more));
        // outside of a request nothing comes after
        let _ = HELD.try_with(|held| held.borrow_mut().push(self));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_share_is_held_until_the_response_is_made_and_no_longer() {
        let budget = Budget::new(Duration::from_millis(10));
        request(async {
            budget.take(10 * TOTAL).await.unwrap().keep(TOTAL / 2);
            assert_eq!(request(budget.take(TOTAL)).await.err(), Some(ApiError::busy()));
            assert!(request(budget.take(TOTAL / 2)).await.is_ok());
            // it would wait for itself
            assert_eq!(budget.take(TOTAL).await.err().map(|error| error.status().as_u16()), Some(422));
            give_back();
            assert!(budget.take(TOTAL).await.is_ok());
        })
        .await;
        assert!(request(budget.take(TOTAL)).await.is_ok());
    }
}
