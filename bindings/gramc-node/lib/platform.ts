/** Platforms. */

/** The name of this platform, such as `linux-x64-gnu`. */
export function platform(): string {
  const name = `${process.platform}-${process.arch}`;
  if (process.platform === "win32") return `${name}-msvc`;
  if (process.platform !== "linux") return name;
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return `${name}-${report.header?.glibcVersionRuntime ? "gnu" : "musl"}`;
}
