import { type Static, Type } from "@sinclair/typebox"
import { formatInstant } from "../../base/time.ts"
import { LIMITS } from "../../contract/limits.ts"
import { ROUTES } from "../../contract/routes.ts"
import type { MailBlock } from "./mail-content.tsx"

/** The public base address for links in notices, without a trailing slash. */
export type LinkContext = { readonly baseUrl: string }

/** A key as a notice names it: never the key itself, nor anything that helps to guess it. */
export const KEY_PARAMS = Type.Object({
  kind: Type.Union([Type.Literal("secret"), Type.Literal("publishable")]),
  name: Type.String(),
  last4: Type.String({ maxLength: 4 }),
  atMs: Type.Integer(),
})

/** A paragraph. */
export const prose = (text: string): MailBlock => ({ kind: "prose", text })

/** The way to the dashboard. */
export const dashboardLink = ({ baseUrl }: LinkContext): MailBlock => ({
  kind: "link",
  label: "Open your dashboard",
  url: `${baseUrl}${ROUTES.dashboard.path}`,
})

/** The way to the page of a list. */
export const listLink = (jobId: string, { baseUrl }: LinkContext): MailBlock => ({
  kind: "link",
  label: "See your list",
  url: `${baseUrl}${ROUTES.dashboardJob.path.replace(":id", encodeURIComponent(jobId))}`,
})

/** The way to the usage. */
export const usageLink = ({ baseUrl }: LinkContext): MailBlock => ({
  kind: "link",
  label: "See your usage",
  url: `${baseUrl}${ROUTES.usage.path}`,
})

/** How soon a revoked key is refused. */
export const STOPS_WORKING = `It stops working within ${LIMITS.revocationSecondsMax} seconds.`

const KEY_KIND_LABELS = { secret: "secret key", publishable: "publishable key" } as const

/** What a notice says of a key, and when something happened to it. */
export function keyFacts({ kind, name, last4, atMs }: Static<typeof KEY_PARAMS>, happened: string): MailBlock {
  return {
    kind: "facts",
    facts: [
      ["Name", name],
      ["Kind", KEY_KIND_LABELS[kind]],
      ["Ends in", last4],
      [happened, formatInstant(atMs)],
    ],
  }
}

/** How to replace a key. */
export const ROTATION_STEPS: MailBlock = {
  kind: "steps",
  steps: [
    "Create a new key in the dashboard.",
    "Store it in an environment variable or a secret manager, never in code.",
    "Deploy, and check on the usage page that requests arrive with the new key.",
    "Remove the old key from your code and its history.",
    "Check your recent usage for requests that you did not make.",
  ],
}

/** A count with separators. */
export const formatCount = (count: number): string => count.toLocaleString("en-GB")
