import { testExamples } from "./example-tests.ts"
import { ALL_RUNNERS } from "./languages.ts"

testExamples(ALL_RUNNERS.filter(({ isSlow }) => isSlow))
