/*
 * The URL of a request is not always complete: without a `Host`, as in HTTP/1.0, or with one that is not a valid host, the
 * runtime gives only the path and the query. So these functions read the text instead of parsing it as a URL.
 */

/** The path of a request as sent, without its query. */
export function pathOf({ url }: Request): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3)
  const end = url.indexOf("?", start)
  return url.slice(start, end < 0 ? undefined : end)
}

/** The query parameters of a request's URL. */
export function queryParameters(url: string): URLSearchParams {
  const start = url.indexOf("?")
  return new URLSearchParams(start < 0 ? "" : url.slice(start + 1))
}
