import { expect, test } from "bun:test"
import { announcesProblem, problemCode } from "../../../bench/load/problem-code.ts"

const head = (type: string): Uint8Array =>
  new TextEncoder().encode(`HTTP/1.1 400 Bad\r\nX: 1\r\n${type}\r\nContent-Length: 2\r\n\r\n`)

test.each([
  ["Content-Type: application/problem+json", true],
  ["content-type:application/problem+json;charset=utf-8", true],
  ["Content-Type: application/json", false],
  ["Content-Type: application/problem+jsonx", false],
  ["X-Content-Type: application/problem+json", false],
])("%s announces a problem: %p", (type, isProblem) => {
  expect(announcesProblem(head(type))).toBe(isProblem)
})

test.each([
  ['{"code":"rate_limited","status":429}', "rate_limited"],
  ['{"code":"two words"}', null],
  [`{"code":"${"x".repeat(65)}"}`, null],
  ['{"code":7}', null],
  ["{}", null],
  ["[]", null],
  ["null", null],
  ["<html>", null],
])("the code of %s is %p", (text, code) => {
  expect(problemCode(text)).toBe(code)
})
