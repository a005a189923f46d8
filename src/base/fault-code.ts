/** What a fault of the system is called, such as `ECONNRESET`; its message may repeat a path or a URL. */
export const faultCode = (fault: unknown): string =>
  fault instanceof Error ? ("code" in fault && typeof fault.code === "string" ? fault.code : fault.name) : "no error"
