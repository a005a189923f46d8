import { expect, test } from "bun:test"
import { prefersHtml } from "../../../src/http/request/accept.ts"

const CHROMIUM =
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7"

test.each([
  CHROMIUM,
  "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "text/html",
  "TEXT/HTML ; q=0.2",
  "text/html, application/json",
  "application/json;q=0.5, text/html;q=0.6",
  "application/xhtml+xml",
  "text/html, application/problem+json;q=0.9",
])("%p asks for HTML before JSON", accept => {
  expect(prefersHtml(accept)).toBe(true)
})

test.each([
  null,
  "",
  "*/*",
  "text/*",
  "application/json",
  "application/json, text/html",
  "application/problem+json, text/html",
  "text/html;q=0.5, application/json",
  "text/html;q=0",
  "text/html;q=x, application/json",
  "image/avif,image/webp,*/*;q=0.8",
])("%p does not ask for HTML before JSON", accept => {
  expect(prefersHtml(accept)).toBe(false)
})
