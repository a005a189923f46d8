import { testFaults } from "./fault-tests.ts"

testFaults({ isSlow: false })
