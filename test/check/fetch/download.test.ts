import { describe, expect, test } from "bun:test"
import { brotliCompressSync, gzipSync, zstdCompressSync } from "node:zlib"
import fc from "fast-check"
import type { CacheValidators, Fetch } from "../../../src/base/fetch.ts"
import {
  DOWNLOAD_BOUNDS,
  type DownloadBounds,
  type DownloadResult,
  download,
} from "../../../src/check/fetch/download.ts"
import { bounded } from "../../support/bounded.ts"
import { createFakeTime } from "../../support/time.ts"
import { bareServer, countedTime, loopbackFetch, webServer } from "./loopback-web.ts"

const AGENT = "mailkind (+https://mailkind.example/)"
const LIST = "a.example\nb.example\n"
const NOTHING_KNOWN: CacheValidators = { etag: null, lastModified: null }

type ApiResponse = {
  readonly known?: CacheValidators | null
  readonly bounds?: Partial<DownloadBounds>
  readonly web?: Fetch
}

/** The result of a download with a stopped clock; it must leave no timer. */
async function downloaded(
  url: string,
  { known = null, bounds = {}, web: fetchUrl = loopbackFetch().fetchUrl }: ApiResponse = {},
) {
  const { later: setTimer, waiting } = createFakeTime()
  const work = download({ fetchUrl, setTimer, userAgent: AGENT }, url, known, { ...DOWNLOAD_BOUNDS, ...bounds })
  const came = await bounded(work, () => `the download of ${url}`)
  expect(waiting()).toBe(0)
  return came
}

const taken = (text: string, validators = NOTHING_KNOWN): DownloadResult => ({
  kind: "taken",
  text,
  validators,
})

const failed = (message: string): DownloadResult => ({ kind: "failed", message })

/** The result of a raw response after which the connection ends. */
async function downloadOf(...answer: readonly (string | Uint8Array)[]): Promise<DownloadResult> {
  const server = bareServer()
  const came = downloaded(server.url)
  for (const bytes of answer) await server.send(bytes)
  await server.hangUp()
  return await came
}

const OK = "HTTP/1.1 200 OK\r\n"
const chunk = (bytes: string | Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`${Buffer.byteLength(bytes).toString(16)}\r\n`), Buffer.from(bytes), Buffer.from("\r\n")])

describe("a list", () => {
  test("is returned with its validators and its number of bytes", async () => {
    const headers = { etag: 'W/"v1"', "last-modified": "Fri, 20 Nov 2026 00:00:00 GMT" }
    const { url } = webServer(() => new Response("é.example\n", { headers }))
    const validators = { etag: 'W/"v1"', lastModified: headers["last-modified"] }
    expect(await downloaded(url)).toEqual(taken("é.example\n", validators))
  })

  test("is requested by GET with the user agent, and without conditions if nothing is known", async () => {
    const seen: (string | null)[] = []
    const { url } = webServer(({ method, headers }) => {
      seen.push(
        method,
        ...["user-agent", "if-none-match", "if-modified-since", "cookie"].map(name => headers.get(name)),
      )
      return new Response(LIST)
    })
    await downloaded(url, { known: NOTHING_KNOWN })
    expect(seen).toEqual(["GET", AGENT, null, null, null])
  })

  test.each([
    ["gzip", gzipSync(LIST)],
    ["br", brotliCompressSync(LIST)],
    ["zstd", zstdCompressSync(LIST)],
  ])("that is compressed by %s is decompressed", async (encoding, body) => {
    const { url } = webServer(() => new Response(body, { headers: { "content-encoding": encoding } }))
    expect(await downloaded(url)).toEqual(taken(LIST))
  })

  test("may end by its length, its last chunk or the end of the connection", async () => {
    expect(await downloadOf(`${OK}Content-Length: 20\r\n\r\n`, LIST)).toEqual(taken(LIST))
    expect(await downloadOf(`${OK}Transfer-Encoding: chunked\r\n\r\n`, chunk(LIST), "0\r\n\r\n")).toEqual(taken(LIST))
    expect(await downloadOf(`${OK}Connection: close\r\n\r\n`, LIST)).toEqual(taken(LIST))
  })

  test("may be empty", async () => {
    expect(await downloadOf(`${OK}Content-Length: 0\r\n\r\n`)).toEqual(taken(""))
  })

  test("loses one byte order mark", async () => {
    const { url } = webServer(() => new Response("\uFEFFa.example\n\uFEFF"))
    expect(await downloaded(url)).toEqual(taken("a.example\n\uFEFF"))
  })

  test("is the same text, whatever its chunks", async () => {
    const text = "ä.example\n漢字.example\n😀.example\n"
    const web = webOf(parts => new Response(parts))
    const octets = Buffer.from(text)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(octets.length)), async cuts => {
        const at = [0, ...cuts.sort((a, b) => a - b), octets.length]
        const parts = at.slice(1).map((end, index) => octets.subarray(at[index], end))
        expect(await downloaded("https://lists.example/", { web: web(parts) })).toEqual(taken(text))
      }),
    )
  })
})

/** A fetch that returns one response with a body in parts. */
const webOf =
  (answer: (body: ReadableStream<Uint8Array>) => Response) =>
  (parts: readonly Uint8Array[]): Fetch =>
  async () =>
    answer(
      new ReadableStream({
        start: controller => {
          for (const part of parts) controller.enqueue(part)
          controller.close()
        },
      }),
    )

describe("a list that was downloaded before", () => {
  const LAST_MODIFIED = "Fri, 20 Nov 2026 00:00:00 GMT"

  test("is unchanged if the server has its entity tag", async () => {
    const { url } = webServer(({ headers }) =>
      headers.get("if-none-match") === '"v1"' ? new Response(null, { status: 304 }) : new Response(LIST),
    )
    expect(await downloaded(url, { known: { etag: '"v1"', lastModified: null } })).toEqual({ kind: "unchanged" })
    expect(await downloaded(url, { known: { etag: '"v0"', lastModified: null } })).toEqual(taken(LIST))
  })

  test("is unchanged if the server has not modified it since its date", async () => {
    const { url } = webServer(({ headers }) =>
      headers.get("if-modified-since") === LAST_MODIFIED && !headers.has("if-none-match")
        ? new Response(null, { status: 304 })
        : new Response(LIST),
    )
    expect(await downloaded(url, { known: { etag: null, lastModified: LAST_MODIFIED } })).toEqual({ kind: "unchanged" })
  })

  test("is requested with both validators, also after a redirect", async () => {
    const { url } = webServer(({ url: input, headers }) => {
      if (new URL(input).pathname === "/") return Response.redirect("/list.txt", 302)
      const isBoth = headers.get("if-none-match") === '"v1"' && headers.get("if-modified-since") === LAST_MODIFIED
      return isBoth ? new Response(null, { status: 304 }) : new Response(LIST)
    })
    expect(await downloaded(url, { known: { etag: '"v1"', lastModified: LAST_MODIFIED } })).toEqual({
      kind: "unchanged",
    })
  })

  test.each([
    ["nothing", null],
    ["no validator", NOTHING_KNOWN],
    ["only what cannot be sent", { etag: '"a\r\nX: 1"', lastModified: "yesterday" }],
  ])("is a failure for 304 if %s is known", async (_, known) => {
    const { url } = webServer(() => new Response(null, { status: 304 }))
    expect(await downloaded(url, { known })).toEqual(
      failed("The server answered 304 (Not Modified), although the request was not conditional."),
    )
  })
})

describe("a response that is not a list fails:", () => {
  test.each([
    [500, "The server answered 500 (Internal Server Error)."],
    [404, "The server answered 404 (Not Found)."],
    [206, "The server answered 206 (Partial Content)."],
    [204, "The server answered 204 (No Content)."],
    [300, "The server answered 300 (Multiple Choices)."],
    [599, "The server answered 599 (no known status)."],
  ])("status %d", async (status, description) => {
    const { url } = webServer(() => new Response(status === 204 ? null : LIST, { status }))
    expect(await downloaded(url)).toEqual(failed(description))
  })

  test.each(["text/html", "Text/HTML;charset=utf-8", "text/html ; charset=utf-8"])("%s", async type => {
    const { url } = webServer(() => new Response(LIST, { headers: { "content-type": type } }))
    expect(await downloaded(url)).toEqual(failed("It is an HTML page."))
  })

  test("a page that is sent as plain text", async () => {
    for (const page of ["<!doctype html>", " \r\n\t<html>", '\uFEFF<?xml version="1.0"?>']) {
      const { url } = webServer(() => new Response(page, { headers: { "content-type": "text/plain" } }))
      expect(await downloaded(url)).toEqual(failed("It begins with `<`, as HTML and XML do."))
    }
    const { url } = webServer(() => new Response("# <html>\n", { headers: { "content-type": "text/htmlish" } }))
    expect(await downloaded(url)).toEqual(taken("# <html>\n"))
  })

  test.each([
    ["an octet that never occurs", [0x61, 0xff]],
    ["a character that is cut off", [0x61, 0xe2, 0x82]],
    ["an overlong form", [0xc0, 0xaf]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["UTF-16", [0xff, 0xfe, 0x61, 0x00]],
  ])("bytes that are not UTF-8: %s", async (_, octets) => {
    const { url } = webServer(() => new Response(new Uint8Array(octets)))
    expect(await downloaded(url)).toEqual(failed("It is not UTF-8."))
  })
})

describe("a truncated body fails:", () => {
  const GZIP = gzipSync(LIST)
  const ENCODED = `${OK}Content-Encoding: gzip\r\n`
  const CHUNKED = "Transfer-Encoding: chunked\r\n\r\n"

  test.each([
    ["short of its length", [`${OK}Content-Length: 21\r\n\r\n`, LIST], "ECONNRESET"],
    ["at the first octet", [`${OK}Content-Length: 21\r\n\r\n`], "ECONNRESET"],
    ["before the last chunk", [`${OK}${CHUNKED}`, chunk(LIST)], "ECONNRESET"],
    ["within a chunk", [`${OK}${CHUNKED}`, chunk(LIST).subarray(0, -5)], "ECONNRESET"],
    ["within the size of a chunk", [`${OK}${CHUNKED}`, chunk(LIST), "1"], "ECONNRESET"],
    [
      "compressed, short of its length",
      [`${ENCODED}Content-Length: ${GZIP.length}\r\n\r\n`, GZIP.subarray(0, -1)],
      "ECONNRESET",
    ],
    ["compressed, before the last chunk", [`${ENCODED}${CHUNKED}`, chunk(GZIP)], "ECONNRESET"],
    ["compressed, at the end of the connection", [`${ENCODED}\r\n`, GZIP.subarray(0, -1)], "ZlibError"],
    [
      "compressed, within the right length",
      [`${ENCODED}Content-Length: 20\r\n\r\n`, GZIP.subarray(0, 20)],
      "ZlibError",
    ],
  ])("%s", async (_, answer, cause) => {
    // If head and body are read together there is no response, otherwise the body is truncated.
    expect(await downloadOf(...answer)).toEqual({ kind: "failed", message: expect.stringContaining(`(${cause}).`) })
  })

  test("shorter than its length, with an orderly end of the connection", async () => {
    const web = webOf(body => new Response(body, { headers: { "content-length": "21" } }))([Buffer.from(LIST)])
    expect(await downloaded("https://lists.example/", { web })).toEqual(
      failed("Its Content-Length is 21 bytes, but it has 20."),
    )
    const chunked = `${OK}Content-Length: 21\r\nTransfer-Encoding: chunked\r\n\r\n`
    expect(await downloadOf(chunked, chunk(LIST), "0\r\n\r\n")).toEqual(
      failed("Its Content-Length is 21 bytes, but it has 20."),
    )
  })

  test("but a body that ends with its connection cannot be recognised as truncated", async () => {
    expect(await downloadOf(`${OK}\r\n`, LIST.slice(0, 5))).toEqual(taken("a.exa"))
  })
})

test("a response that is not HTTP, an invalid length and a closed port are failures", async () => {
  expect(await downloadOf("220 mail.example ESMTP\r\n")).toMatchObject({ kind: "failed" })
  expect(await downloadOf("")).toEqual(
    failed(expect.stringMatching(/^Nobody answered at http:\/\/[^/]+ \(ECONNRESET\)\.$/)),
  )
  for (const length of ["-1", "20, 20", "0x14", "99999999999999999999999"])
    expect(await downloadOf(`${OK}Content-Length: ${length}\r\n\r\n`, LIST)).toEqual(
      failed(expect.stringMatching(/^Nobody answered at http:\/\/[^/]+ \(InvalidContentLength\)\.$/)),
    )
  const gone = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } })
  gone.stop(true)
  expect(await downloaded(`http://127.0.0.1:${gone.port}/`)).toEqual(
    failed(`Nobody answered at http://127.0.0.1:${gone.port} (ECONNREFUSED).`),
  )
})

test("a fetch that throws at once, or throws something that is not an Error, is a failure", async () => {
  const url = "https://lists.example/?token=secret"
  const thrown: Fetch = () => {
    throw new RangeError(`cannot ask ${url}`)
  }
  expect(await downloaded(url, { web: thrown })).toEqual(failed("It failed with RangeError."))
  expect(await downloaded(url, { web: () => Promise.reject("gone") })).toEqual(
    failed("Nobody answered at https://lists.example (no error)."),
  )
})

describe("a body", () => {
  const bounds = { bytesMax: 1000 }

  test("of the largest size is accepted, and one byte more fails, with and without a Content-Length", async () => {
    const sized = webServer(({ url }) => new Response("a".repeat(Number(new URL(url).pathname.slice(1)))))
    expect(await downloaded(`${sized.url}1000`, { bounds })).toEqual(taken("a".repeat(1000)))
    expect(await downloaded(`${sized.url}1001`, { bounds })).toEqual(
      failed("Its Content-Length is 1001 bytes, more than 1000."),
    )
    const web = webOf(body => new Response(body))
    const url = "https://lists.example/"
    const part = Buffer.alloc(500, "a")
    expect(await downloaded(url, { bounds, web: web([part, part]) })).toEqual(taken("a".repeat(1000)))
    expect(await downloaded(url, { bounds, web: web([part, part, part.subarray(0, 1)]) })).toEqual(
      failed("It has more than 1000 bytes."),
    )
  })

  test("whose Content-Length is too large fails at once, and its connection is closed", async () => {
    const server = bareServer()
    const came = downloaded(server.url, { bounds })
    await server.send(`${OK}Content-Length: 1001\r\n\r\n`)
    expect(await came).toEqual(failed("Its Content-Length is 1001 bytes, more than 1000."))
    await server.closed()
  })

  test("without an end fails at the first byte too many, and its connection is closed", async () => {
    const left = Promise.withResolvers<void>()
    const { url } = webServer(
      () =>
        new Response(
          new ReadableStream({
            pull: controller => controller.enqueue(Buffer.alloc(65_536, "a")),
            cancel: () => left.resolve(),
          }),
        ),
    )
    expect(await downloaded(url, { bounds: { bytesMax: 1_000_000 } })).toEqual(
      failed("It has more than 1000000 bytes."),
    )
    await bounded(left.promise, () => "the server still sends")
  })

  test.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
  ])("that is small in %s and too large decompressed fails at the first byte too many", async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(64 * 1024 * 1024, "a"))
    expect(bomb.length).toBeLessThan(100_000)
    const { url } = webServer(() => new Response(bomb, { headers: { "content-encoding": encoding } }))
    expect(await downloaded(url, { bounds: { bytesMax: 100_000 } })).toEqual(failed("It has more than 100000 bytes."))
  })
})

describe("a redirect", () => {
  /** A server that redirects `/3` to `/2` and so on; `/0` is the list. */
  const countdown = (status: number) =>
    webServer(({ url }) => {
      const left = Number(new URL(url).pathname.slice(1))
      return left === 0 ? new Response(LIST) : new Response("moved", { status, headers: { location: `${left - 1}` } })
    })

  test.each([301, 302, 303, 307, 308])("by %d is followed up to the limit", async status => {
    const { url } = countdown(status)
    expect(await downloaded(`${url}3`)).toEqual(taken(LIST))
    expect(await downloaded(`${url}4`)).toEqual(failed("It has more than 3 redirects."))
    expect(await downloaded(`${url}0`, { bounds: { redirectsMax: 0 } })).toEqual(taken(LIST))
    expect(await downloaded(`${url}1`, { bounds: { redirectsMax: 0 } })).toEqual(
      failed("It has more than 0 redirects."),
    )
  })

  test("to itself fails at the limit", async () => {
    const { url } = webServer(() => Response.redirect("/", 302))
    const { fetchUrl, requestedUrls } = loopbackFetch()
    expect(await downloaded(url, { web: fetchUrl })).toEqual(failed("It has more than 3 redirects."))
    expect(requestedUrls).toEqual([url, url, url, url])
  })

  test.each([
    ["http://lists.example/list.txt", "http://lists.example"],
    ["//10.0.0.1/list.txt", "http://10.0.0.1"],
    ["http://127.0.0.1.lists.example/", "http://127.0.0.1.lists.example"],
    ["http://169.254.169.254/latest/meta-data/", "http://169.254.169.254"],
    ["https://user:secret@lists.example/", "https://lists.example"],
    ["file:///etc/passwd", "file://"],
    ["data:text/plain,a.example", "data://"],
  ])("to %s is not followed", async (location, facts) => {
    const { url } = webServer(() => new Response(null, { status: 302, headers: { location } }))
    const { fetchUrl, requestedUrls } = loopbackFetch()
    expect(await downloaded(url, { web: fetchUrl })).toEqual(
      failed(`The server answered 302 (Found) and redirects to ${facts}, which is not allowed.`),
    )
    expect(requestedUrls).toEqual([url])
  })

  test("from another host to loopback is not followed", async () => {
    for (const location of ["http://127.0.0.1:8080/", "https://localhost/", "http://[::1]/"]) {
      const requests: string[] = []
      const web: Fetch = async url => {
        requests.push(url)
        return new Response(null, { status: 302, headers: { location } })
      }
      expect(await downloaded("https://lists.example/", { web })).toMatchObject({ kind: "failed" })
      expect(requests).toEqual(["https://lists.example/"])
    }
  })

  test("without a URL or with an invalid one is a failure", async () => {
    for (const headers of [{}, { location: "https://" }] as const) {
      const { url } = webServer(() => new Response(null, { status: 301, headers }))
      expect(await downloaded(url)).toEqual(failed("The server answered 301 (Moved Permanently), but without a URL."))
    }
  })

  test("is followed before its own body is complete, and its connection is closed", async () => {
    const { url } = webServer(() => new Response(LIST))
    const server = bareServer()
    const came = downloaded(server.url)
    await server.send(`HTTP/1.1 302 Found\r\nLocation: ${url}\r\nContent-Length: 1000\r\n\r\n`)
    expect(await came).toEqual(taken(LIST))
    await server.closed()
  })
})

test("a source is downloaded by https, or by http on loopback only", async () => {
  for (const url of [
    "http://lists.example/",
    "ftp://lists.example/",
    "https://user@lists.example/",
    "lists.example",
    "",
  ]) {
    const requests: string[] = []
    const web: Fetch = async asking => {
      requests.push(asking)
      return new Response(LIST)
    }
    expect(await downloaded(url, { web })).toMatchObject({ kind: "failed" })
    expect(requests).toEqual([])
    expect(await downloaded("https://lists.example/", { web })).toEqual(taken(LIST))
  }
})

describe("time", () => {
  /** A download from a bare server with a clock that the test moves, and whether it has settled. */
  function waited() {
    const time = countedTime()
    const server = bareServer()
    const state: { came: DownloadResult | null } = { came: null }
    const work = download(
      { fetchUrl: loopbackFetch().fetchUrl, setTimer: time.later, userAgent: AGENT },
      server.url,
      null,
      DOWNLOAD_BOUNDS,
    )
    const came = bounded(work, () => "the download").then(download => {
      state.came = download
      return download
    })
    return { time, server, state, came }
  }

  test("is up for a server that sends nothing, at the idle time and not before", async () => {
    const { time, server, state, came } = waited()
    await server.send("")
    await time.tick(DOWNLOAD_BOUNDS.idleMs - 1)
    expect(state.came).toBeNull()
    await time.tick(1)
    expect(await came).toEqual(failed("No data arrived for 15 s."))
    expect(time.waiting()).toBe(0)
    await server.closed()
  })

  test("is up for a body that stops, counted from its last part", async () => {
    const { time, server, state, came } = waited()
    await time.tick(10_000)
    await server.send(`${OK}Content-Length: 20\r\n\r\n`)
    await time.begun(3) // the idle time and all of it, then the idle time of the body
    await time.tick(10_000)
    await server.send("a")
    await time.begun(4)
    await time.tick(DOWNLOAD_BOUNDS.idleMs - 1)
    expect(state.came).toBeNull()
    await time.tick(1)
    expect(await came).toEqual(failed("No data arrived for 15 s."))
    await server.closed()
  })

  test("is up for a slow body at the end of the complete time", async () => {
    const { time, server, state, came } = waited()
    await server.send(`${OK}Content-Length: 20\r\n\r\n`)
    await time.begun(3)
    for (let octets = 1; octets <= 5; octets++) {
      await server.send("a")
      await time.begun(3 + octets)
      await time.tick(octets < 5 ? 14_000 : 3999)
    }
    expect(state.came).toBeNull()
    await time.tick(1)
    expect(await came).toEqual(failed("It was not complete after 60 s."))
    expect(time.waiting()).toBe(0)
    await server.closed()
  })

  test("is up for a fetch that ignores its abort signal", async () => {
    const time = createFakeTime()
    const fetchUrl: Fetch = () => new Promise<Response>(() => undefined)
    const came = download(
      { fetchUrl, setTimer: time.later, userAgent: AGENT },
      "https://lists.example/",
      null,
      DOWNLOAD_BOUNDS,
    )
    await time.tick(DOWNLOAD_BOUNDS.idleMs)
    expect(await came).toEqual(failed("No data arrived for 15 s."))
  })

  test("covers all redirects together", async () => {
    const time = createFakeTime()
    const fetchUrl: Fetch = url =>
      new Promise(resolve => {
        const location = `${url}a`
        time.later(14_999, () => resolve(new Response(null, { status: 302, headers: { location } })))
      })
    const bounds = { ...DOWNLOAD_BOUNDS, redirectsMax: 10 }
    const came = download({ fetchUrl, setTimer: time.later, userAgent: AGENT }, "https://lists.example/", null, bounds)
    await time.tick(60_000)
    expect(await came).toEqual(failed("It was not complete after 60 s."))
  })
})

test("the bounds are 16 MiB, a minute in all, 15 s of silence and three redirects", () => {
  expect(DOWNLOAD_BOUNDS).toEqual({ bytesMax: 16_777_216, timeoutMs: 60_000, idleMs: 15_000, redirectsMax: 3 })
})
