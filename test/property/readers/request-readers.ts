import { redactAddresses } from "../../../src/base/address-redaction.ts"
import { writtenMembers } from "../../../src/base/json-members.ts"
import { detectSubjectKind, parseAddressOrDomain, parseSubject } from "../../../src/check/address/parse-subject.ts"
import { LIMITS } from "../../../src/contract/limits.ts"
import { parseRules } from "../../../src/customers/accounts/account-rules.ts"
import { checkSolution } from "../../../src/customers/free-checks/challenges.ts"
import { parseKey } from "../../../src/customers/keys/key-format.ts"
import { parseNetwork } from "../../../src/customers/keys/networks.ts"
import { parseOrigin } from "../../../src/customers/keys/origins.ts"
import { parseNotedEntry } from "../../../src/customers/own-lists/entries.ts"
import { ROW_LENGTH_MAX } from "../../../src/customers/own-lists/entry-table.ts"
import { userAgentLabel } from "../../../src/customers/sign-in/sessions.ts"
import { parseLeakReport } from "../../../src/http/hooks/leak-report.ts"
import { parseKeySet } from "../../../src/http/hooks/reporter-keys.ts"
import { prefersHtml } from "../../../src/http/request/accept.ts"
import { assertBoundedJson, readJsonBody } from "../../../src/http/request/body.ts"
import {
  inputFromBody,
  inputFromQuery,
  parseBatchRequest,
  parseCheckRequest,
} from "../../../src/http/request/check-input.ts"
import { createClientNetworkResolver } from "../../../src/http/request/client-address.ts"
import { parseResultsQuery, parseUploadQuery, requestedRange } from "../../../src/http/request/job-input.ts"
import { openUpload } from "../../../src/http/request/job-upload.ts"
import { parseSentEntries } from "../../../src/http/request/own-list-input.ts"
import { acceptsGzip } from "../../../src/http/response/compression.ts"
import { createJsonResponses } from "../../../src/http/response/json-responses.ts"
import { createCookies } from "../../../src/http/site/cookies.ts"
import { readListUpload } from "../../../src/http/site/dashboard/jobs/list-upload.ts"
import { parseRequestQuery } from "../../../src/http/site/dashboard/requests/request-query.ts"
import { readForm } from "../../../src/http/site/form-body.ts"
import { parseTyped } from "../../../src/http/site/typed-subject.ts"
import { parseFeedback } from "../../../src/http/v1/feedback.ts"
import { handleMcpRequest } from "../../../src/mcp/mcp-server.ts"
import { nextTurn, type Reader, textOf } from "./reader.ts"

const TEST_DOMAIN = "mailkind.test"
const ROOM = {
  reserveBody: () => undefined,
  releaseBody: () => undefined,
  nextTick: (work: () => void) => void setImmediate(work),
}

/** The runtime refuses a request whose headers and URL are longer. */
const HEAD_BYTES_MAX = 16_384
const HEAD = { bytesMax: HEAD_BYTES_MAX, memoryBytesMax: 4 * 1_048_576 } as const

const post = (mediaType: string, bytes: Uint8Array<ArrayBuffer>): Request =>
  new Request("http://localhost/", {
    method: "POST",
    body: bytes,
    headers: { "Content-Type": mediaType, "Content-Length": String(bytes.length) },
  })

const JSON_TOKENS = ['"', "{", "}", "[", "]", ":", ",", "\\", "1", " ", '"a":1,', '"1":{},', "\\u0061", "\\ud800", "é"]

const json = (bytes: Uint8Array<ArrayBuffer>, bytesMax: number): Promise<unknown> =>
  readJsonBody(post("application/json", bytes), bytesMax, ROOM)

const BOUNDARY = "X"
const PART = `\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--${BOUNDARY}`
const MULTIPART_TOKENS = ["\r\n", "--X", "--", "-", "\r", "\n", ":", ";", '"', "a", 'name="', PART, "X", " "]
/** A form with one part before the text, which ends with a boundary. */
const multipart = (text: string): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="list"\r\n\r\nblock\r\n--${BOUNDARY}${text}--\r\n`
const FILE_PART = PART.replace('"a"', '"file"')
const LONG_PART = PART.replace("\r\n\r\nb", `\r\n\r\n${"b".repeat(800)}`)

const FORM_TOKENS = ["&", "=", "a", "%", "+", "%41", "%c3%a9", "%ff", "%0A", "a&", "a=1&", ";", "\0"]

/** The bytes as the value of a header, which holds no line end. */
const header = (name: string, bytes: Uint8Array): Headers => {
  const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1")
  return new Headers({ [name]: value.replace(/[\r\n\0]/g, " ") })
}

const nothing = async () => ({ kind: "problem", code: "unauthorized", detail: "No." }) as const
const NO_TOOLS = {
  check: nothing,
  check_batch: nothing,
  explain_listing: nothing,
  usage: nothing,
  own_list: nothing,
  own_list_add: nothing,
  own_list_remove: nothing,
  rules: nothing,
  rules_set: nothing,
}

const agentRequest = (body: Uint8Array<ArrayBuffer>): Request =>
  new Request("http://localhost/mcp", {
    method: "POST",
    body,
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
  })

const documents = createJsonResponses(() => "id", false)
const DOCUMENT = {
  bytes: new Uint8Array(2),
  compressed: new Uint8Array(2),
  mediaType: "application/json",
  entityTag: '"x"',
} as const

const urlOf = (bytes: Uint8Array): string => `http://localhost/?${textOf(bytes).replaceAll("#", "")}`

const asked = (name: string, bytes: Uint8Array): Request =>
  new Request("http://localhost/", { headers: header(name, bytes) })

const isProxied = createClientNetworkResolver(["127.0.0.1"])

/** The readers of the bodies and heads of requests. */
export const REQUEST_READERS: readonly Reader[] = [
  {
    name: "JSON of a check",
    files: ["http/request/body.ts", "http/request/check-input.ts", "base/text.ts"],
    tokens: JSON_TOKENS,
    plain: '"name":"Jane Doe","city":"Berlin",',
    frame: text => `{"email":"a@b.com",${text}"z":1}`,
    bytesMax: LIMITS.bodyBytesMax,
    memoryBytesMax: 16 * 1_048_576,
    read: async bytes => parseCheckRequest(inputFromBody(await json(bytes, LIMITS.bodyBytesMax)), TEST_DOMAIN, null),
  },
  {
    name: "JSON of a batch",
    files: ["http/request/body.ts", "http/request/check-input.ts"],
    tokens: [...JSON_TOKENS, '"a@b.com",'],
    plain: '"jane@example.com",',
    frame: text => `{"items":[${text}"z"]}`,
    bytesMax: LIMITS.batchBodyBytesMax,
    memoryBytesMax: 32 * 1_048_576,
    read: async bytes => parseBatchRequest(await json(bytes, LIMITS.batchBodyBytesMax)),
  },
  {
    name: "JSON of entries",
    files: ["http/request/own-list-input.ts", "customers/own-lists/entries.ts", "base/address-redaction.ts"],
    tokens: [...JSON_TOKENS, '{"entry":"acme.com","note":"', '"},', '"a@b.com",'],
    plain: '{"entry":"jane@example.com","note":"a note"},',
    frame: text => `{"entries":[${text}"z.com"]}`,
    bytesMax: LIMITS.ownListBodyBytesMax,
    memoryBytesMax: 32 * 1_048_576,
    read: async bytes => {
      for (const { entry, note } of parseSentEntries(await json(bytes, LIMITS.ownListBodyBytesMax)))
        parseNotedEntry(entry, note, parseAddressOrDomain)
    },
  },
  {
    name: "JSON of rules",
    files: ["http/v1/rules.ts", "base/json-members.ts"],
    tokens: [...JSON_TOKENS, '"personal":"block",', '"rules":{'],
    plain: '"personal":"block","relay":null,',
    frame: text => `{"rules":{${text}"unknown":"review"}}`,
    bytesMax: LIMITS.rulesBodyBytesMax,
    memoryBytesMax: 16 * 1_048_576,
    read: async bytes => {
      await json(bytes, LIMITS.rulesBodyBytesMax)
      const rules = writtenMembers(textOf(bytes)).flatMap(({ text }) => writtenMembers(text))
      parseRules(rules.map(({ name, text }) => [name, JSON.parse(text)] as const))
    },
  },
  {
    name: "text with addresses",
    files: ["http/v1/feedback.ts", "base/address-redaction.ts"],
    tokens: [" at ", " dot ", "@", ".", " ", "(at)", "[dot]", "&#64;", "%40", '"', "\\", "a", "\u202e", "＠"],
    plain: "they sell shoes in Berlin and write from jane@example.com too ",
    bytesMax: ROW_LENGTH_MAX,
    memoryBytesMax: 8 * 1_048_576,
    read: bytes => {
      const comment = textOf(bytes)
      parseFeedback({ domain: "acme.com", expected_category: "business", comment }, TEST_DOMAIN)
      redactAddresses(comment, LIMITS.commentLengthMax)
    },
  },
  {
    name: "report of leaked keys",
    files: ["http/hooks/leak-report.ts"],
    tokens: [...JSON_TOKENS, '{"token":"a","type":"b"},'],
    plain: '{"token":"svc_live_x","type":"mailkind","url":"https://example.com/x"},',
    frame: text => `[${text}{}]`,
    bytesMax: LIMITS.bodyBytesMax,
    memoryBytesMax: 16 * 1_048_576,
    read: bytes => parseLeakReport(bytes),
  },
  {
    name: "keys of a reporter",
    files: ["http/hooks/reporter-keys.ts"],
    tokens: [...JSON_TOKENS, '{"key_identifier":"a","key":"-----BEGIN PUBLIC KEY-----"},'],
    plain: '{"key_identifier":"a","key":"x","is_current":true},',
    frame: text => `{"public_keys":[${text}{}]}`,
    bytesMax: 65_536,
    memoryBytesMax: 16 * 1_048_576,
    read: bytes => parseKeySet(textOf(bytes)),
  },
  {
    name: "solution of a challenge",
    files: ["customers/free-checks/challenges.ts"],
    tokens: [...JSON_TOKENS, '"challenge":{', '"parameters":{', '"cost":1,'],
    plain: '"salt":"0123456789abcdef",',
    frame: text => Buffer.from(`{"challenge":{${text}"a":1}}`).toString("base64"),
    bytesMax: 2048,
    memoryBytesMax: 4 * 1_048_576,
    read: bytes => checkSolution({ challenge: "a", solution: "b", client: "c", network: "d" }, () => 0, textOf(bytes)),
  },
  {
    name: "message of an agent",
    once: ["1,", "["],
    files: ["http/mcp/mcp-route.ts", "mcp/mcp-server.ts"],
    tokens: [...JSON_TOKENS, '"method":"tools/call",', '"params":{', '"a@b.com",'],
    plain: '"jane@example.com",',
    frame: text =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_batch","arguments":{"items":[${text}"z"]}}}`,
    bytesMax: LIMITS.batchBodyBytesMax,
    memoryBytesMax: 64 * 1_048_576,
    read: bytes => {
      assertBoundedJson(bytes)
      return handleMcpRequest(NO_TOOLS, agentRequest(bytes))
    },
  },
  {
    name: "form, urlencoded",
    files: ["http/site/form-body.ts"],
    tokens: FORM_TOKENS,
    once: ["a&", "&"],
    plain: "jane%40example.com%0D%0A",
    frame: text => `list=block&entries=${text}`,
    bytesMax: LIMITS.ownListFormBytesMax,
    memoryBytesMax: 64 * 1_048_576,
    read: async bytes => {
      const form = await readForm(post("application/x-www-form-urlencoded", bytes), LIMITS.ownListFormBytesMax, ROOM)
      form.text("list")
      form.all("entries")
    },
  },
  {
    name: "form, multipart",
    files: ["http/site/form-body.ts", "http/request/multipart.ts"],
    tokens: MULTIPART_TOKENS,
    plain: "jane@example.com\r\n",
    frame: text =>
      multipart(`\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${text}\r\n--${BOUNDARY}`),
    bytesMax: LIMITS.ownListFormBytesMax,
    memoryBytesMax: 64 * 1_048_576,
    read: async bytes => {
      const type = `multipart/form-data; boundary=${BOUNDARY}`
      const form = await readForm(post(type, bytes), LIMITS.ownListFormBytesMax, ROOM)
      form.file("file")
    },
  },
  {
    name: "parts of a form",
    files: ["http/site/form-body.ts", "http/request/multipart.ts"],
    tokens: MULTIPART_TOKENS,
    once: [PART],
    plain: LONG_PART,
    frame: multipart,
    bytesMax: LIMITS.ownListFormBytesMax,
    memoryBytesMax: 64 * 1_048_576,
    read: bytes => readForm(post(`multipart/form-data; boundary=${BOUNDARY}`, bytes), LIMITS.ownListFormBytesMax, ROOM),
  },
  {
    name: "upload of a list",
    files: ["http/site/dashboard/jobs/list-upload.ts", "http/request/multipart.ts", "http/request/upload.ts"],
    tokens: MULTIPART_TOKENS,
    once: [PART],
    plain: LONG_PART,
    frame: multipart,
    bytesMax: 104_857_600,
    memoryBytesMax: 32 * 1_048_576,
    read: async bytes => {
      const request = post(`multipart/form-data; boundary=${BOUNDARY}`, bytes)
      const deps = { setTimer: () => () => undefined, allowSilence: () => undefined, loadShedder: ROOM }
      const { file, close } = await readListUpload(request, deps, 104_857_600)
      for await (const _ of file?.content ?? []) await nextTurn()
      await close()
    },
  },
  {
    name: "form with the list of a job",
    files: ["http/request/job-upload.ts", "http/request/multipart.ts"],
    tokens: [...MULTIPART_TOKENS, 'filename="', "Content-Type:"],
    once: [PART],
    plain: LONG_PART,
    frame: text => `${multipart(text).slice(0, -"--\r\n".length)}${FILE_PART}--\r\n`,
    bytesMax: 104_857_600,
    memoryBytesMax: 32 * 1_048_576,
    read: async bytes => {
      const request = post(`multipart/form-data; boundary=${BOUNDARY}`, bytes)
      const list = await openUpload(request, { setTimer: () => () => undefined, allowSilence: () => undefined })
      for await (const _ of list.content) await nextTurn()
      await list.close()
    },
  },
  {
    ...HEAD,
    name: "query of the API",
    files: ["http/request/request-url.ts", "http/request/check-input.ts"],
    tokens: [...FORM_TOKENS, "email=", "deep="],
    plain: "name=Jane%20Doe&city=Berlin&",
    frame: text => `email=a@b.com&${text}`,
    read: bytes => parseCheckRequest(inputFromQuery(urlOf(bytes)), TEST_DOMAIN, null),
  },
  {
    ...HEAD,
    name: "query of an upload",
    files: ["http/request/job-input.ts"],
    tokens: [...FORM_TOKENS, "format=", "only=", "column="],
    plain: "name=Jane%20Doe&city=Berlin&",
    read: bytes => {
      parseResultsQuery(new Request(urlOf(bytes)))
      parseUploadQuery(urlOf(bytes), { fields: [], format: null, delimiter: null, isJson: false })
    },
  },
  {
    ...HEAD,
    name: "query of a page",
    files: ["http/site/dashboard/requests/request-query.ts", "http/site/links.ts"],
    tokens: [...FORM_TOKENS, "domain=", "from="],
    plain: "name=Jane%20Doe&city=Berlin&",
    read: bytes => parseRequestQuery(urlOf(bytes)),
  },
  {
    ...HEAD,
    name: "Accept, Accept-Encoding",
    files: ["http/request/accept.ts", "http/response/compression.ts"],
    tokens: [
      ",",
      ";",
      "q=",
      "q=0.1",
      "*/*",
      "text/html",
      "application/json",
      "application/",
      ".json",
      " ",
      "\t",
      "gzip",
    ],
    plain: "text/html;q=0.9, ",
    read: bytes => {
      const value = header("accept", bytes).get("accept")
      prefersHtml(value)
      acceptsGzip(value)
    },
  },
  {
    ...HEAD,
    name: "Cookie",
    files: ["http/site/cookies.ts"],
    tokens: [";", "=", " ", "\t", "a", "mailkind_session", "mailkind_session=", '"'],
    plain: "theme=dark; ",
    read: bytes => createCookies(false).read(asked("cookie", bytes), "session"),
  },
  {
    ...HEAD,
    name: "X-Forwarded-For",
    files: ["http/request/client-address.ts"],
    tokens: [",", ":", "[", "]", "1", "127.0.0.1", ".", " ", "::", "ffff", "%", "::ffff:127.0.0.1", "0:"],
    plain: "127.0.0.1, ",
    read: bytes => isProxied("127.0.0.1", header("x-forwarded-for", bytes)),
  },
  {
    ...HEAD,
    name: "If-None-Match",
    files: ["http/response/json-responses.ts"],
    tokens: [",", '"', "W/", "*", " ", "a", '"x', "\t"],
    plain: '"abc", ',
    read: bytes => documents.document(DOCUMENT, asked("if-none-match", bytes), "id"),
  },
  {
    ...HEAD,
    name: "Range",
    files: ["http/request/job-input.ts"],
    tokens: ["bytes=", "-", "1", ",", " ", "0"],
    plain: "bytes=1-2, ",
    read: bytes => requestedRange(asked("range", bytes), 1000, '"x"'),
  },
  {
    ...HEAD,
    name: "Content-Type",
    files: ["http/request/multipart.ts", "http/site/form-body.ts", "http/request/body.ts"],
    tokens: [";", "boundary=", '"', " ", "\t", "a", "=", "+json", "application/", "multipart/form-data;", "+"],
    plain: "; charset=utf-8",
    frame: text => `multipart/form-data${text}`,
    read: async bytes => {
      const type = header("content-type", bytes).get("content-type") ?? ""
      const send = () => post(type, new Uint8Array(2))
      await Promise.allSettled([
        readForm(send(), 10, ROOM),
        readJsonBody(send(), 10, ROOM),
        readListUpload(
          send(),
          { setTimer: () => () => undefined, allowSilence: () => undefined, loadShedder: ROOM },
          9,
        ),
      ])
    },
  },
  {
    ...HEAD,
    name: "Authorization, Origin, User-Agent",
    files: [
      "http/request/caller.ts",
      "customers/keys/key-format.ts",
      "customers/keys/origins.ts",
      "customers/sign-in/sessions.ts",
    ],
    tokens: ["svc_live_", "a", ".", "https://", ":", "/", "[", "]", "Firefox/", "Linux", " ", "\u00e9", "-"],
    plain: "https://example.com ",
    read: bytes => {
      const text = textOf(bytes)
      parseKey(text)
      parseOrigin(text)
      parseNetwork(text)
      userAgentLabel(text)
    },
  },
  {
    name: "typed subject",
    files: [
      "http/site/typed-subject.ts",
      "check/address/parse-subject.ts",
      "check/address/parse-email.ts",
      "check/address/parse-host.ts",
    ],
    tokens: [
      ...'@.+-_"\\()<>[]:/?#% ,;',
      "a",
      "é",
      "xn--",
      "\u0301",
      "。",
      "\u200d",
      "\ud800",
      "http://",
      "\t",
      "ß",
      "٠",
    ],
    plain: "jane.doe-",
    bytesMax: LIMITS.bodyBytesMax,
    memoryBytesMax: 8 * 1_048_576,
    read: bytes => {
      const text = textOf(bytes)
      parseTyped(text, TEST_DOMAIN)
      parseSubject("email", text, TEST_DOMAIN)
      parseSubject("domain", text, TEST_DOMAIN)
      parseSubject("url", text, TEST_DOMAIN)
      parseSubject("email", `a@${text}`, TEST_DOMAIN)
      detectSubjectKind(text)
    },
  },
]
