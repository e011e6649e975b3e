//! Reports as JUnit XML, which most CI systems show.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::report::ToolReport;

/// The reports of a library as one document of JUnit XML. Fails with the reason if it cannot be written.
pub fn junit(library: &str, reports: &[ToolReport]) -> Result<String, String> {
    let mut suite = TestSuite::new(library);
    for tool in reports {
        let status = match (tool.violations.first(), tool.status()) {
            (Some(first), _) => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_type(first.check.name());
                status.set_message(&first.message);
                let all = tool.violations.iter();
                let lines = all
                    .map(|it| format!("{}: {}\n  {}\n", it.check.name(), it.message, it.arguments));
                status.set_description(lines.collect::<String>());
                status
            }
            (None, "skipped") => {
                let mut status = TestCaseStatus::skipped();
                status.set_message(tool.skipped.as_deref().unwrap_or_default());
                status
            }
            _ => TestCaseStatus::success(),
        };
        suite.add_test_case(TestCase::new(tool.tool.as_str(), status));
    }
    let mut report = Report::new("gramc test");
    report.add_test_suite(suite);
    report.to_string().map_err(|error| error.to_string())
}
