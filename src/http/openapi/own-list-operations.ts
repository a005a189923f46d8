import { OwnListEntriesBody, OwnListQuery, OwnListRemovalBody } from "../../contract/own-lists-schema.ts"
import { exampleOwnListAddition, exampleOwnListPage, exampleOwnListRemoval } from "../response/example-responses.ts"
import { type JsonSchema, queryParameters } from "./json-schemas.ts"
import { headerReferences, IDEMPOTENCY_KEY, jsonContent, KEY_HEADERS, ONCE_HEADERS } from "./response-parts.ts"

const DELETED_ENTRY: JsonSchema = {
  name: "entry",
  in: "query",
  required: false,
  description:
    "An entry to remove, for clients that send no body with DELETE; it may be given several times, but not beside `entries` in a body.",
  schema: { type: "array", items: { type: "string" } },
}

type List = "block" | "allow"

const reading = (list: List) => ({
  tag: "own_lists",
  summary: `See your ${list} list`,
  request: (): JsonSchema => ({ parameters: queryParameters(OwnListQuery) }),
  responses: (): Readonly<Record<number, JsonSchema>> => ({
    200: {
      description: "A page of the list.",
      headers: headerReferences([], KEY_HEADERS),
      content: jsonContent("OwnListPage", { two: { summary: "A list of two entries", value: exampleOwnListPage() } }),
    },
  }),
})

const adding = (list: List) => ({
  tag: "own_lists",
  summary: `Add to your ${list} list`,
  request: (): JsonSchema => ({
    parameters: [IDEMPOTENCY_KEY],
    requestBody: {
      required: true,
      description: "The entries. A plain string is an entry without a note.",
      content: jsonContent("OwnListEntriesBody", {
        one: { summary: "A domain", value: OwnListEntriesBody.examples[0] },
      }),
    },
  }),
  responses: (): Readonly<Record<number, JsonSchema>> => ({
    200: {
      description: "What happened to each entry.",
      headers: headerReferences([], ONCE_HEADERS),
      content: jsonContent("OwnListAddition", { three: { summary: "Three entries", value: exampleOwnListAddition() } }),
    },
  }),
})

const removing = (list: List) => ({
  tag: "own_lists",
  summary: `Remove from your ${list} list`,
  request: (): JsonSchema => ({
    parameters: [DELETED_ENTRY],
    requestBody: {
      required: false,
      description: "The entries, unless the query names them. Objects with the member `entry` are taken too.",
      content: jsonContent("OwnListRemovalBody", {
        one: { summary: "A domain", value: OwnListRemovalBody.examples[0] },
      }),
    },
  }),
  responses: (): Readonly<Record<number, JsonSchema>> => ({
    200: {
      description: "What happened to each entry.",
      headers: headerReferences([], KEY_HEADERS),
      content: jsonContent("OwnListRemoval", { two: { summary: "Two entries", value: exampleOwnListRemoval() } }),
    },
  }),
})

/** The operations on own lists. */
export const OWN_LIST_OPERATIONS = {
  getBlockList: reading("block"),
  postBlockList: adding("block"),
  deleteBlockList: removing("block"),
  getAllowList: reading("allow"),
  postAllowList: adding("allow"),
  deleteAllowList: removing("allow"),
} as const
