import { join } from "node:path"
import { RulesAnswer, RulesBody } from "../../contract/account-rules-schema.ts"
import { FeedbackBody, FeedbackReceipt } from "../../contract/feedback-schema.ts"
import { JobBody, JobEstimateBody, JobFormatSchema } from "../../contract/jobs-schema.ts"
import { OwnListAddition, OwnListEntriesBody, OwnListPage, OwnListRemoval } from "../../contract/own-lists-schema.ts"
import {
  CategorySchema,
  CheckResult,
  PolicySchema,
  ReasonSchema,
  RecommendationSchema,
  ReducedResult,
} from "../../contract/result-schema.ts"
import { BatchResult, Health, ProblemBody } from "../../contract/schemas.ts"
import { Usage } from "../../contract/usage-schema.ts"
import { type TypeDeclarations, typeText } from "./type-text.ts"

const HEAD = "// Written from the tables of the contract by `bun run build:types`. Git ignores it.\n"

/** One member of the union for each code, and one for those of later versions. */
const PROBLEM = `/** Why the server refused a request (RFC 9457). Branch on \`code\`; \`title\` and \`detail\` are for people and may change. */
type Problem = { [C in ProblemCode]: Omit<ProblemBody, "code"> & { code: C } }[ProblemCode] | (Omit<ProblemBody, "code"> & { code: string & {} })
`

/** The text of `api-types.ts`: types alone, so that no program needs it when it runs. */
export function apiTypesText(): string {
  const declarations: TypeDeclarations = new Map()
  // What is sent takes only what the API knows, and what comes may hold more.
  typeText(FeedbackBody, declarations, false)
  typeText(OwnListEntriesBody, declarations, false)
  typeText(RulesBody, declarations, false)
  for (const schema of [CategorySchema, RecommendationSchema, ReasonSchema, PolicySchema, JobFormatSchema])
    typeText(schema, declarations, false)
  for (const schema of [
    CheckResult,
    ReducedResult,
    BatchResult,
    FeedbackReceipt,
    Usage,
    RulesAnswer,
    Health,
    JobBody,
    JobEstimateBody,
    OwnListPage,
    OwnListAddition,
    OwnListRemoval,
  ])
    typeText(schema, declarations, true)
  typeText({ ...ProblemBody, $id: "ProblemBody" }, declarations, true)
  const names = [...declarations.keys(), "Problem"].filter(name => name !== "ProblemBody").sort()
  return [HEAD, ...declarations.values(), PROBLEM, `export type { ${names.join(", ")} }\n`].join("\n")
}

/** Writes `api-types.ts`, unless it is as it should be. */
export async function writeApiTypes(): Promise<void> {
  const file = Bun.file(join(import.meta.dir, "../api-types.ts"))
  const text = apiTypesText()
  if (!(await file.exists()) || (await file.text()) !== text) await file.write(text)
}

if (import.meta.main) await writeApiTypes()
