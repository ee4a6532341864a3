//! Work in soft-interrupt context, as a Python object that holds it.

use pyo3::prelude::*;
use sojourn_worker::os_error;

/// Work for request packets to `port` on `interfaces`, from construction until the object is gone.
#[pyclass]
pub struct IrqWork(sojourn_irqwork::IrqWork);

#[pymethods]
impl IrqWork {
    /// `table_s`: 1024 times in [0, 0.01] s, of which each packet takes one at random.
    #[new]
    fn new(interfaces: Vec<String>, port: u16, table_s: Vec<f64>) -> PyResult<Self> {
        sojourn_irqwork::IrqWork::attach(&interfaces, port, &table_s).map(Self).map_err(os_error)
    }

    /// Packets worked on and the seconds burnt for them.
    fn burnt(&self) -> PyResult<(u64, f64)> {
        let burnt = self.0.burnt().map_err(os_error)?;
        Ok((burnt.packets, burnt.seconds))
    }
}
