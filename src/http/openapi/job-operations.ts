import { JOB_FORMATS } from "../../contract/jobs.ts"
import { JobQuery, JobResultsQuery } from "../../contract/jobs-schema.ts"
import { LIST_MEDIA_TYPES } from "../request/job-upload.ts"
import { exampleCallbackSecret, exampleJob, exampleJobEstimate } from "../response/example-responses.ts"
import { type JsonSchema, queryParameters } from "./json-schemas.ts"
import { headerReferences, IDEMPOTENCY_KEY, jsonContent, KEY_HEADERS, ONCE_HEADERS } from "./response-parts.ts"

const JOB_ID: JsonSchema = {
  name: "id",
  in: "path",
  required: true,
  description: "The id of the job. That of another account's job does not exist for you.",
  schema: { type: "string" },
}

const RANGE: JsonSchema = {
  name: "Range",
  in: "header",
  required: false,
  description:
    "One range of bytes, such as `bytes=1048576-`. With `If-Range` and the `ETag` of the part that you have.",
  schema: { type: "string" },
}

const binary = { type: "string", format: "binary" } as const

const jobContent = () =>
  jsonContent("Job", { running: { summary: "A list that is being checked", value: exampleJob() } })

const resultResponse = (description: string, more: readonly string[]): JsonSchema => ({
  description,
  headers: headerReferences([], [...KEY_HEADERS, "ETag", "Accept-Ranges", "Content-Disposition", ...more]),
  content: Object.fromEntries(
    [...new Set(Object.values(JOB_FORMATS).map(({ mediaType }) => mediaType.split(";")[0] ?? mediaType))].map(type => [
      type,
      { schema: { type: "string" } },
    ]),
  ),
})

/** The operations on jobs. */
export const JOB_OPERATIONS = {
  postJob: {
    tag: "jobs",
    summary: "Upload a list",
    request: (): JsonSchema => ({
      parameters: [...queryParameters(JobQuery), IDEMPOTENCY_KEY],
      requestBody: {
        required: true,
        description:
          "The list itself, without `Content-Encoding`, or the file of a form whose fields before it are parameters. A JSON array has strings or objects, of a workbook one sheet is read, and a zip archive has one file. The server tells its own limit of bytes when it refuses a larger one.",
        content: Object.fromEntries(LIST_MEDIA_TYPES.map(type => [type, { schema: binary }])),
      },
    }),
    responses: (): Readonly<Record<number, JsonSchema>> => ({
      200: {
        description: "With `dry`: what the list would cost.",
        headers: headerReferences([], KEY_HEADERS),
        content: jsonContent("JobEstimate", {
          list: { summary: "A list of 100 000 rows", value: exampleJobEstimate() },
        }),
      },
      202: {
        description: "The list has arrived whole and waits for its turn.",
        headers: headerReferences([], [...ONCE_HEADERS, "Location"]),
        content: jobContent(),
      },
    }),
  },
  getJobs: {
    tag: "jobs",
    summary: "See your lists",
    request: (): JsonSchema => ({}),
    responses: (): Readonly<Record<number, JsonSchema>> => ({
      200: {
        description: "Your jobs.",
        headers: headerReferences([], KEY_HEADERS),
        content: jsonContent("JobList", { one: { summary: "One job", value: { jobs: [exampleJob()] } } }),
      },
    }),
  },
  getJob: {
    tag: "jobs",
    summary: "Watch a list",
    request: (): JsonSchema => ({ parameters: [JOB_ID] }),
    responses: (): Readonly<Record<number, JsonSchema>> => ({
      200: { description: "How far the job is.", headers: headerReferences([], KEY_HEADERS), content: jobContent() },
    }),
  },
  getJobResults: {
    tag: "jobs",
    summary: "Download results",
    request: (): JsonSchema => ({ parameters: [JOB_ID, ...queryParameters(JobResultsQuery), RANGE] }),
    responses: (): Readonly<Record<number, JsonSchema>> => ({
      200: resultResponse(
        "The results in the order of the rows: a table for a list of text or CSV, lines for NDJSON. Of a job that is `stopped` or `failed`, those so far.",
        [],
      ),
      206: resultResponse("The bytes that `Range` asks for.", ["Content-Range"]),
    }),
  },
  postCallbackSecret: {
    tag: "jobs",
    summary: "Make a callback secret",
    request: (): JsonSchema => ({}),
    responses: (): Readonly<Record<number, JsonSchema>> => ({
      200: {
        description: "Your new secret. It is shown here only.",
        headers: headerReferences([], KEY_HEADERS),
        content: jsonContent("CallbackSecret", {
          replaced: { summary: "A secret that replaces another one", value: exampleCallbackSecret() },
        }),
      },
    }),
  },
  deleteJob: {
    tag: "jobs",
    summary: "Delete a list",
    request: (): JsonSchema => ({ parameters: [JOB_ID] }),
    responses: (): Readonly<Record<number, JsonSchema>> => ({
      204: { description: "The job is deleted.", headers: headerReferences([], KEY_HEADERS) },
    }),
  },
} as const
