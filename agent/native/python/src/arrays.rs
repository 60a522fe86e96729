//! Arrays of numpy, by Python's buffer protocol.
#![allow(unsafe_code)]

use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// A number that arrays hold, by numpy's name of its type.
pub(crate) trait Number: Element {
    const NAME: &str;
}

impl Number for u8 {
    const NAME: &str = "uint8";
}
impl Number for u16 {
    const NAME: &str = "uint16";
}
impl Number for i32 {
    const NAME: &str = "int32";
}
impl Number for i64 {
    const NAME: &str = "int64";
}
impl Number for f64 {
    const NAME: &str = "float64";
}

/// An array of any shape that is read, row by row.
pub(crate) struct Input<T: Number> {
    buffer: PyBuffer<T>,
    /// The numbers, where they are not next to one another in the array.
    copy: Option<Vec<T>>,
}

impl<'py, T: Number> FromPyObject<'_, 'py> for Input<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let buffer = PyBuffer::<T>::get(&object)?;
        let ready = buffer.is_c_contiguous() && buffer.buf_ptr().cast::<T>().is_aligned();
        let copy = if ready {
            None
        } else {
            Some(buffer.to_vec(object.py())?)
        };
        Ok(Self { buffer, copy })
    }
}

impl<T: Number> Input<T> {
    /// Return the length of the array's last dimension.
    pub(crate) fn columns(&self) -> usize {
        self.buffer.shape().last().copied().unwrap_or_default()
    }

    /// Return the numbers. No thread may write to the array while they are read, with or without the interpreter's lock.
    pub(crate) fn slice(&self) -> &[T] {
        if let Some(copy) = &self.copy {
            return copy;
        }
        let size = self.buffer.item_count();
        if size == 0 {
            return &[];
        }
        // SAFETY: the buffer keeps the memory of the array alive for as long as `self`; it is contiguous, aligned and of
        // this type of number (checked above). Callers of the module do not write to arrays that they pass to a
        // call before that returns; those arrays are results of earlier calls or of the calling thread.
        unsafe { std::slice::from_raw_parts(self.buffer.buf_ptr().cast::<T>(), size) }
    }
}

/// Flags, of an array of numpy's type `bool`.
pub(crate) struct Flags(Input<u8>);

impl<'py> FromPyObject<'_, 'py> for Flags {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(object.call_method1("view", ("uint8",))?.extract()?))
    }
}

impl Flags {
    /// A byte for each flag.
    pub(crate) fn slice(&self) -> &[u8] {
        self.0.slice()
    }
}

/// A new array that is filled before Python has it.
pub(crate) struct Output<'py, T: Number> {
    array: Bound<'py, PyAny>,
    buffer: PyBuffer<T>,
}

impl<'py, T: Number> Output<'py, T> {
    /// Create an array of a shape, whose numbers are still to be written.
    pub(crate) fn new(py: Python<'py>, shape: &[usize]) -> PyResult<Self> {
        static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let zeros = EMPTY.import(py, "numpy", "empty")?;
        let array = zeros.call1((shape.to_vec(), T::NAME))?;
        let buffer = PyBuffer::get(&array)?;
        Ok(Self { array, buffer })
    }

    /// Create an array of a shape with these numbers; fail if their number differs.
    pub(crate) fn with(
        py: Python<'py>,
        shape: &[usize],
        numbers: &[T],
    ) -> PyResult<Bound<'py, PyAny>>
    where
        T: Send + Sync,
    {
        let mut output = Self::new(py, shape)?;
        let room = output.slice();
        if room.len() != numbers.len() {
            return Err(crate::unfit());
        }
        if numbers.len() < LARGE {
            room.copy_from_slice(numbers);
        } else {
            py.detach(|| room.copy_from_slice(numbers));
        }
        Ok(output.array)
    }

    /// Return the numbers to be written.
    pub(crate) fn slice(&mut self) -> &mut [T] {
        let size = self.buffer.item_count();
        if size == 0 {
            return &mut [];
        }
        // SAFETY: numpy has just allocated the array for this type of number, contiguous and aligned, and the buffer keeps
        // it alive. Nobody else has it: it is given away by `array` only, which takes `self`. Memory of `numpy.empty`
        // is allocated, and any bits are a number.
        unsafe { std::slice::from_raw_parts_mut(self.buffer.buf_ptr().cast::<T>(), size) }
    }

    /// Return the array to Python.
    pub(crate) fn array(self) -> Bound<'py, PyAny> {
        self.array
    }
}

/// Copying fewer numbers takes less than letting go of the interpreter's lock is worth.
const LARGE: usize = 1 << 14;

/// Numbers by their arrays, together.
pub(crate) fn one_dimensional<'py, T: Number + Send + Sync>(
    py: Python<'py>,
    numbers: &[T],
) -> PyResult<Bound<'py, PyAny>> {
    Output::with(py, &[numbers.len()], numbers)
}
