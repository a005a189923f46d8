import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import type { TSchema } from "@sinclair/typebox"
import { Value } from "@sinclair/typebox/value"
import ENDPOINTS from "../../data/identity/endpoints.json"
import { apiTypesText } from "../../src/client/packing/api-types-text.ts"
import { CheckResult, ReducedResult } from "../../src/contract/result-schema.ts"
import { useOf } from "../../src/contract/schema-parts.ts"
import { verdictFields } from "../../src/http/site/docs/inserts/field-inserts.ts"
import { pythonClient } from "../../src/http/site/docs/python-client.ts"

type Member = { readonly path: string; readonly schema: TSchema }

/** The members of an object's schema, and theirs. */
function membersIn(schema: TSchema, prefix = ""): readonly Member[] {
  return Object.entries<TSchema>(schema["properties"] ?? {}).flatMap(([name, member]) => {
    const inner: TSchema = member["items"] ?? member
    return [
      { path: `${prefix}${name}`, schema: member },
      ...membersIn(inner, `${prefix}${name}${member["items"] ? "[]" : ""}.`),
    ]
  })
}

const MEMBERS = membersIn(CheckResult)
const textOf = (schema: TSchema): string => useOf(schema).description ?? schema.description ?? ""

test("every member of a verdict is described, with an example that its schema takes", () => {
  const reduced = membersIn(ReducedResult).filter(({ path }) => path !== "workspace")
  const faulty = [...MEMBERS, ...reduced].filter(({ schema }) => {
    const examples = useOf(schema).examples ?? schema["examples"]
    return textOf(schema) === "" || !Array.isArray(examples) || !Value.Check(schema, examples[0])
  })
  expect(faulty.map(({ path }) => path)).toEqual([])
  expect(MEMBERS.length).toBeGreaterThan(45)
})

test("a member that may be null says when it is", () => {
  const silent = MEMBERS.filter(({ schema }) => Value.Check(schema, null) && !/\bNull: /.test(textOf(schema)))
  expect(silent.map(({ path }) => path)).toEqual([])
})

test("the page of fields, the types of the TypeScript client and those of the Python client say the same of each", () => {
  const [typescript, python] = [apiTypesText(), pythonClient("http://127.0.0.1:1")]
  expect(verdictFields().map(({ path, description }) => [path, description])).toEqual(
    MEMBERS.map(({ path, schema }) => [path, textOf(schema)]),
  )
  for (const { schema } of MEMBERS) {
    expect(typescript).toContain(`/** ${textOf(schema)} */`)
    expect(python).toContain(`"""${textOf(schema)}"""`)
  }
})

test("a suite is described by hosts that the tables of mail hosts and identity endpoints have", () => {
  const providers = readFileSync("data/mail/providers.txt", "utf8")
  const described = MEMBERS.filter(({ path }) => /^workspace\.suite_[ab]\.detected$/.test(path)).map(({ schema }) =>
    textOf(schema),
  )
  const hosts = described.flatMap(text => text.match(/`[\w.-]+\.[a-z]+`/g) ?? []).map(host => host.slice(1, -1))
  expect(hosts).toHaveLength(5)
  const known = `${providers}\n${Object.values(ENDPOINTS.urls).join("\n")}`
  expect(hosts.filter(host => !known.includes(host))).toEqual([])
})
