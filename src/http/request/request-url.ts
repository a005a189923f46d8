/**
 * The parameters of a request's URL. The URL need not be whole: of a request without a host, as HTTP/1.0 has them, or with one
 * that none can have, there is a path and a query alone.
 */
export function queryParameters(url: string): URLSearchParams {
  const start = url.indexOf("?")
  return new URLSearchParams(start < 0 ? "" : url.slice(start + 1))
}
