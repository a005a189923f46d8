/** What the quick start's call gives for `business@{test domain}`. */
export const EXPECTED_LINE = "business allow"

/** A generator of clients or schemas from the OpenAPI document. */
export type Generator = {
  /** npm packages with their versions. */
  readonly packages: Readonly<Record<string, string>>
  /** The program in `node_modules`, and its arguments. The document is `openapi.json`; results go to `out/NAME`. */
  readonly command: readonly [string, ...string[]]
  /** A file that the generator needs beside it, by name. */
  readonly files?: Readonly<Record<string, string>>
  /**
   * A program that makes the quick start's call at `BASE_URL` and prints `EXPECTED_LINE`. With a validating generator it then
   * parses a result with an unknown member and an unknown reason, and prints its category. Misspelt members do not compile.
   */
  readonly program: string
}

/** The next line must not compile. */
const REFUSED = ["// @ts", "expect", "error a misspelt member"].join("-")
const CALL = '{ email: "business@mailkind.test" }'
const MISSPELT = '{ email: "x@y.z", polcy: "b2b" }'
const ADDED = '{ ...data, added: 1, reasons: ["new_reason"] }'
const PRINT = 'console.log(data.category + " " + data.recommendation)'

/** Generators that are widely used for TypeScript, each with its program. */
export const GENERATORS: Readonly<Record<string, Generator>> = {
  "openapi-typescript": {
    packages: { "openapi-typescript": "7.13.0", "openapi-fetch": "0.17.0" },
    command: ["openapi-typescript/bin/cli.js", "openapi.json", "-o", "out/openapi-typescript/schema.d.ts"],
    // The types of openapi-fetch find a missing member, but no optional one too many: its body is a type parameter.
    program: `
      import createClient from "openapi-fetch"
      import type { components, paths } from "./out/openapi-typescript/schema.d.ts"
      const client = createClient<paths>({ baseUrl: BASE_URL })
      const { data, error } = await client.POST("/v1/check", { body: ${CALL} })
      if (data === undefined) throw new Error(error.code)
      ${PRINT}
      ${REFUSED}
      export const misspelt = () => client.POST("/v1/check", { body: { emial: "x@y.z" } })
      ${REFUSED}
      export const typed: components["schemas"]["CheckBody"] = ${MISSPELT}`,
  },
  "openapi-ts": {
    packages: { "@hey-api/openapi-ts": "0.95.0", zod: "3.25.76" },
    command: [
      "@hey-api/openapi-ts/bin/run.js",
      ..."-i openapi.json -o out/openapi-ts -p @hey-api/typescript @hey-api/sdk @hey-api/client-fetch zod".split(" "),
    ],
    program: `
      import { client } from "./out/openapi-ts/client.gen"
      import { postCheck } from "./out/openapi-ts/sdk.gen"
      import { zCheckResult } from "./out/openapi-ts/zod.gen"
      client.setConfig({ baseUrl: BASE_URL })
      const { data, error } = await postCheck({ body: ${CALL} })
      if (data === undefined) throw new Error(error.code)
      ${PRINT}
      console.log(zCheckResult.parse(${ADDED}).category)
      ${REFUSED}
      export const misspelt = () => postCheck({ body: ${MISSPELT} })`,
  },
  orval: {
    packages: { orval: "7.13.2", zod: "3.25.76" },
    command: ["orval/dist/bin/orval.js", "--config", "./orval.config.cjs"],
    files: {
      "orval.config.cjs": `
        const input = { target: "./openapi.json" }
        module.exports = {
          calls: { input, output: { target: "./out/orval/api.ts", client: "fetch", baseUrl: BASE_URL } },
          schemas: { input, output: { target: "./out/orval/zod.ts", client: "zod" } },
        }`,
    },
    program: `
      import { postCheck } from "./out/orval/api"
      import { postCheckResponse } from "./out/orval/zod"
      const { data, status } = await postCheck(${CALL})
      if (status !== 200) throw new Error(data.code)
      ${PRINT}
      console.log(postCheckResponse.parse(${ADDED}).category)
      ${REFUSED}
      export const misspelt = () => postCheck(${MISSPELT})`,
  },
  "swagger-typescript-api": {
    packages: { "swagger-typescript-api": "13.13.0" },
    command: [
      "swagger-typescript-api/dist/cli.mjs",
      ..."generate -p openapi.json -o out/swagger-typescript-api -n api.ts".split(" "),
    ],
    program: `
      import { Api } from "./out/swagger-typescript-api/api"
      const api = new Api({ baseUrl: BASE_URL })
      const { data } = await api.v1.postCheck(${CALL})
      ${PRINT}
      ${REFUSED}
      export const misspelt = () => api.v1.postCheck(${MISSPELT})`,
  },
  "openapi-zod-client": {
    packages: { "openapi-zod-client": "1.18.3", "@zodios/core": "10.9.6", zod: "3.25.76", axios: "1.21.1" },
    command: ["openapi-zod-client/bin.js", "openapi.json", "-o", "out/openapi-zod-client/api.ts"],
    program: `
      import { createApiClient, schemas } from "./out/openapi-zod-client/api"
      const api = createApiClient(BASE_URL, { validate: true })
      const data = await api.post("/v1/check", ${CALL})
      ${PRINT}
      console.log(schemas.CheckResult.parse(${ADDED}).category)
      ${REFUSED}
      export const misspelt = () => api.post("/v1/check", { emial: "x@y.z" })`,
  },
  "openapi-typescript-codegen": {
    packages: { "openapi-typescript-codegen": "0.31.0" },
    command: [
      "openapi-typescript-codegen/bin/index.js",
      ..."--input openapi.json --output out/openapi-typescript-codegen --client fetch".split(" "),
    ],
    program: `
      import { CheckService, OpenAPI } from "./out/openapi-typescript-codegen"
      OpenAPI.BASE = BASE_URL
      const data = await CheckService.postCheck(${CALL})
      ${PRINT}
      ${REFUSED}
      export const misspelt = () => CheckService.postCheck(${MISSPELT})`,
  },
  "typed-openapi": {
    packages: { "typed-openapi": "2.2.7" },
    command: ["typed-openapi/bin.js", "openapi.json", "-o", "out/typed-openapi/api.ts"],
    program: `
      import { createApiClient } from "./out/typed-openapi/api"
      const headers = { "Content-Type": "application/json" }
      const body = (parameters: unknown) => JSON.stringify((parameters as { body?: unknown } | undefined)?.body)
      const api = createApiClient(
        { fetch: ({ method, url, parameters }) => fetch(url, { method, body: body(parameters), headers }) },
        BASE_URL,
      )
      const data = await api.post("/v1/check", { body: ${CALL} })
      ${PRINT}
      ${REFUSED}
      export const misspelt = () => api.post("/v1/check", { body: ${MISSPELT} })`,
  },
}

/** Programs that judge the document, with the file that configures each. */
export const LINTERS: Readonly<Record<string, Omit<Generator, "program">>> = {
  spectral: {
    packages: { "@stoplight/spectral-cli": "6.16.3" },
    command: ["@stoplight/spectral-cli/dist/index.js", "lint", "--fail-severity=hint", "openapi.json"],
    files: { ".spectral.yaml": 'extends: ["spectral:oas"]\n' },
  },
  redocly: {
    packages: { "@redocly/cli": "2.77.0" },
    command: ["@redocly/cli/bin/cli.js", "lint", "--max-problems=100", "--format=json", "openapi.json"],
  },
}

/** Packages that the tests use themselves. */
export const TOOLS: Readonly<Record<string, string>> = {
  typescript: "5.9.3",
  "openapi-to-postmanv2": "6.3.3",
  "@stoplight/prism-cli": "5.14.2",
  ajv: "8.20.0",
  "ajv-formats": "3.0.1",
}
