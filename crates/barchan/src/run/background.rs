//! Frames are written while the run goes on.
//!
//! One frame at a time is in the hands of a thread, and its memory comes back with the answer: a run
//! has one copy of its state, not more. If the next frame is due before the last one is on the disk,
//! the run waits. No frame is lost, and an error is told at the next occasion.

use crate::frame::Frame;
use crate::output::{Attach, OutputError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{Builder, JoinHandle};

/// What the thread is asked to do.
#[derive(Debug)]
pub(super) enum Job {
    /// Write this rank's piece of the next frame.
    Piece(Box<Frame>),
    /// Complete so many frames: the pieces of all ranks are there.
    Complete(usize),
}

/// What the thread hears.
enum Order {
    Do(Job),
    /// Everything before has been ordered: tell so when it is done, if it went well.
    Tell(Sender<()>),
}

/// How it went. The frame can be filled again.
struct Answer {
    frame: Option<Box<Frame>>,
    result: Result<(), OutputError>,
}

/// The thread, and what is known of its work.
#[derive(Debug)]
pub(super) struct Background {
    /// Where it writes, for messages.
    path: PathBuf,
    /// `None` once no more work will come.
    orders: Option<Sender<Order>>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
    /// `None` while the thread has it.
    frame: Option<Box<Frame>>,
    /// Jobs without an answer.
    open: usize,
    /// Pieces that are on the disk.
    finished: usize,
}

impl Background {
    /// Starts a thread that does each job by `work`. `path` is where it writes.
    pub(super) fn start(
        path: &Path,
        mut work: impl FnMut(&Job) -> Result<(), OutputError> + Send + 'static,
    ) -> Result<Self, OutputError> {
        let (orders, todo) = channel();
        let (done, answers) = channel();
        let run = move || {
            let mut is_well = true;
            for order in todo {
                let job = match order {
                    Order::Do(job) => job,
                    Order::Tell(to) => {
                        if is_well {
                            // Whoever has asked may not wait any more.
                            let _ = to.send(());
                        }
                        continue;
                    }
                };
                let result = work(&job);
                is_well &= result.is_ok();
                let frame = if let Job::Piece(frame) = job { Some(frame) } else { None };
                if done.send(Answer { frame, result }).is_err() {
                    break;
                }
            }
        };
        let thread = Builder::new().name("frames".into()).spawn(run).attach("start a thread that writes", path)?;
        Ok(Self {
            path: path.into(),
            orders: Some(orders),
            answers,
            thread: Some(thread),
            frame: Some(Box::default()),
            open: 0,
            finished: 0,
        })
    }

    /// Fills a frame and hands it over. Waits only if the last one is not on the disk yet.
    ///
    /// # Errors
    /// If an earlier job failed.
    pub(super) fn write(&mut self, fill: impl FnOnce(&mut Frame)) -> Result<(), OutputError> {
        self.poll()?;
        let mut frame = loop {
            match self.frame.take() {
                Some(frame) => break frame,
                None => self.wait()?,
            }
        };
        fill(&mut frame);
        self.hand_over(Job::Piece(frame));
        Ok(())
    }

    /// Has frames completed, in the background too.
    pub(super) fn complete(&mut self, frames: usize) {
        self.hand_over(Job::Complete(frames));
    }

    /// Hears what is done, and waits for nothing.
    ///
    /// # Errors
    /// If a job failed.
    pub(super) fn poll(&mut self) -> Result<(), OutputError> {
        loop {
            match self.answers.try_recv() {
                Ok(answer) => self.take(answer)?,
                Err(TryRecvError::Empty) => return Ok(()),
                Err(TryRecvError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    /// Waits until all that was handed over is done.
    ///
    /// # Errors
    /// If a job failed.
    pub(super) fn wait_all(&mut self) -> Result<(), OutputError> {
        while self.open > 0 {
            self.wait()?;
        }
        Ok(())
    }

    /// Something comes of it when all that was handed over so far is done. If a job has failed, nothing
    /// ever will, and whoever waits hears that.
    pub(super) fn completion(&mut self) -> Receiver<()> {
        let (to, completion) = channel();
        self.order(Order::Tell(to));
        completion
    }

    /// Pieces that are on the disk, as far as it has been heard.
    pub(super) fn finished(&self) -> usize {
        self.finished
    }

    fn hand_over(&mut self, job: Job) {
        self.open += 1;
        self.order(Order::Do(job));
    }

    fn order(&mut self, order: Order) {
        if let Some(orders) = &self.orders {
            // If nobody is there to take it, whoever asks for the answer will hear so.
            let _ = orders.send(order);
        }
    }

    fn wait(&mut self) -> Result<(), OutputError> {
        let answer = self.answers.recv().map_err(|_| self.ended())?;
        self.take(answer)
    }

    fn take(&mut self, Answer { frame, result }: Answer) -> Result<(), OutputError> {
        self.open -= 1;
        if let Some(frame) = frame {
            self.finished += usize::from(result.is_ok());
            self.frame = Some(frame);
        }
        result
    }

    /// The thread is gone: it has panicked, and said so.
    fn ended(&self) -> OutputError {
        let source = io::Error::other("the thread that writes frames has ended");
        OutputError::Io { operation: "write", path: self.path.clone(), source }
    }
}

impl Drop for Background {
    /// What was handed over is still written.
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // If it has panicked, it has said so.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    fn step_of(job: &Job) -> u64 {
        match job {
            Job::Piece(frame) => frame.step,
            Job::Complete(frames) => 1000 + *frames as u64,
        }
    }

    #[test]
    fn the_run_goes_on_until_a_second_frame_is_due() {
        // A disk that writes when it is told to.
        let (tell, told) = sync_channel::<()>(0);
        let (write, written) = channel();
        let mut background = Background::start(Path::new("x"), move |job| {
            told.recv().unwrap();
            write.send(step_of(job)).unwrap();
            Ok(())
        })
        .unwrap();
        background.write(|frame| frame.step = 1).unwrap();
        background.poll().unwrap();
        assert_eq!((background.finished(), written.try_recv().ok()), (0, None));
        // The second one comes only when the first is done.
        let disk = std::thread::spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(50));
            (0..4).for_each(|_| tell.send(()).unwrap());
        });
        background.write(|frame| frame.step = 2).unwrap();
        assert_eq!((background.finished(), written.recv()), (1, Ok(1)));
        background.complete(1);
        background.write(|frame| frame.step += 1).unwrap();
        background.wait_all().unwrap();
        assert_eq!(background.finished(), 3);
        // In order, and the memory was that of the second.
        assert_eq!(written.try_iter().collect::<Vec<_>>(), [2, 1001, 3]);
        disk.join().unwrap();
    }

    #[test]
    fn a_mark_comes_when_all_before_it_is_done() {
        let (tell, told) = sync_channel::<()>(0);
        let work = move |job: &Job| {
            told.recv().unwrap();
            if step_of(job) == 2 { Err(OutputError::Elsewhere { is_input: true }) } else { Ok(()) }
        };
        let mut background = Background::start(Path::new("x"), work).unwrap();
        background.completion().recv().unwrap();
        background.write(|frame| frame.step = 1).unwrap();
        let completion = background.completion();
        assert_eq!(completion.try_recv(), Err(TryRecvError::Empty));
        tell.send(()).unwrap();
        completion.recv().unwrap();
        // It never comes after a job that has failed.
        background.write(|frame| frame.step = 2).unwrap();
        let completion = background.completion();
        tell.send(()).unwrap();
        assert!(completion.recv().is_err());
        assert!(background.wait_all().is_err() && background.completion().recv().is_err());
    }

    #[test]
    fn errors_are_told_at_the_next_occasion() {
        let work = |job: &Job| if step_of(job) == 2 { Err(OutputError::Elsewhere { is_input: true }) } else { Ok(()) };
        for wait in [false, true] {
            let mut background = Background::start(Path::new("x"), work).unwrap();
            background.write(|frame| frame.step = 1).unwrap();
            background.write(|frame| frame.step = 2).unwrap();
            let told = if wait { background.wait_all() } else { background.write(|frame| frame.step = 3) };
            assert!(matches!(told, Err(OutputError::Elsewhere { .. })), "{told:?}");
            assert_eq!(background.finished(), 1);
        }
    }

    #[test]
    fn a_thread_that_panics_is_an_error() {
        let mut background = Background::start(Path::new("x"), |_| panic!("as it should here")).unwrap();
        background.write(|_| {}).unwrap();
        let error = background.wait_all().unwrap_err().to_string();
        assert_eq!(error, "cannot write x: the thread that writes frames has ended");
        assert!(background.write(|_| {}).is_err() && background.poll().is_err());
    }
}
