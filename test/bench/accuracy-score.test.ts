import { expect, test } from "bun:test"
import { calibrationFigure, calibrationRows, calibrationText } from "../../bench/accuracy/calibration.ts"
import { type Answered, confusionOf, confusionText, isTrapPassed, scoreOf } from "../../bench/accuracy/score.ts"
import { slipLines, slipOf } from "../../bench/accuracy/slips.ts"
import { CATEGORY_NAMES } from "../../src/contract/categories.ts"

const answered = (label: Answered["label"], answer: Answered["label"]): Answered => ({
  text: "a.com",
  label,
  answered: answer,
  reason: answer === "relay" ? "relay_domain" : "mx_found",
  confidence: answer === "relay" ? 0.99 : 0.85,
})

const all = [
  answered("relay", "relay"),
  answered("relay", "relay"),
  answered("relay", "relay"),
  answered("relay", "disposable"),
  answered("business", "relay"),
  answered("unknown", "unknown"),
]

test("recall is of what has the label, precision of what got the answer", () => {
  const score = scoreOf(confusionOf(all), "relay")
  expect(score).toEqual({
    category: "relay",
    labelled: 4,
    right: 3,
    recall: 0.75,
    precision: 0.75,
    wronglyClaimed: 1,
    others: 2,
  })
  expect(scoreOf(confusionOf(all), "disposable")).toMatchObject({
    right: 0,
    precision: 0,
    wronglyClaimed: 1,
    others: 6,
  })
})

test("a category that nobody asked about and nobody answered has no score", () => {
  const { recall, precision } = scoreOf(confusionOf(all), "education")
  expect([recall, precision]).toEqual([Number.NaN, Number.NaN])
})

test("the table has a line for each label and a column for each answer, and a dot for nothing", () => {
  const [head = "", ...lines] = confusionText(confusionOf(all))
  expect(head.split(/ +/).slice(2)).toEqual(CATEGORY_NAMES)
  expect(lines.map(line => line.split(/ +/)[0])).toEqual(CATEGORY_NAMES)
  expect(lines[CATEGORY_NAMES.indexOf("relay")]?.split(/ +/).join(" ")).toBe("relay · · 1 3 · · · ·")
})

test("a trap is right when it gets its label, or when nothing is said of a business", () => {
  expect(isTrapPassed(answered("relay", "relay"))).toBe(true)
  expect(isTrapPassed(answered("business", "unknown"))).toBe(true)
  expect(isTrapPassed(answered("business", "disposable"))).toBe(false)
  expect(isTrapPassed(answered("education", "unknown"))).toBe(false)
})

test("each reason's confidence is compared with the share that is right, and one that is far off is marked where names are enough", () => {
  const rows = calibrationRows([
    ...Array.from({ length: 198 }, () => answered("relay", "relay")),
    ...Array.from({ length: 2 }, () => answered("personal", "relay")),
    ...Array.from({ length: 150 }, () => answered("business", "business")),
    ...Array.from({ length: 50 }, () => answered("personal", "business")),
    answered("unknown", "business"),
  ])
  expect(calibrationText(rows)).toEqual([
    "decided by               names   said  right  right where each label weighs the same",
    "relay_domain               200  0.990  0.990  0.990",
    "mx_found                   200  0.850  0.750  0.750 *",
  ])
  expect(calibrationFigure("tuned", rows)).toMatchObject({ unit: "of 2", value: 1 })
  expect(calibrationFigure("tuned", calibrationRows([answered("personal", "business")])).value).toBe(0)
})

test("a table of firms shows what is right where each label weighs the same too, and is judged by what is right of all names", () => {
  const rows = calibrationRows([
    ...Array.from({ length: 900 }, () => answered("business", "business")),
    ...Array.from({ length: 60 }, () => answered("education", "business")),
    ...Array.from({ length: 340 }, () => answered("education", "relay")),
  ])
  expect(calibrationText(rows).at(-1)).toBe("mx_found                   960  0.850  0.938  0.870 *")
})

test("a suggestion is counted by what separates the typed domain from the suggested one", () => {
  const slips = [
    ["gmial.com", "gmail.com", "swapped"],
    ["gmal.com", "gmail.com", "omitted"],
    ["gmai9l.com", "gmail.com", "digit key"],
    ["2857gmail.com", "gmail.com", "junk before"],
    ["gmail.commail.com", "gmail.com", "run-on"],
    ["g.mail.com", "gmail.com", "dots"],
    ["gmail.con", "gmail.com", "wrong suffix"],
    ["gmal.ru", "gmail.com", "two parts"],
  ] as const
  expect(slips.map(([typed, offered]) => [typed, offered, slipOf(typed, offered)])).toEqual(slips.map(row => [...row]))
  expect(
    slipLines([
      { text: "gmial.com", offered: "gmail.com", meant: "gmail.com" },
      { text: "gmali.com", offered: "gmail.com", meant: "gmx.com" },
      { text: "gmal.com", offered: "gmail.com", meant: "gmail.com" },
      { text: "gail.com", offered: "gmail.com", meant: null },
      { text: "gmail.con", offered: "gmail.com", meant: "gmail.com" },
    ]),
  ).toEqual([
    "slip             of typos  right  of honest names",
    "swapped                 2      1               0 *",
    "omitted                 1      1               1 *",
    "wrong suffix            1      1               0",
  ])
})
