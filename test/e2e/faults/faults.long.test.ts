import { testFaults } from "./fault-tests.ts"

testFaults({ isSmoke: false })
