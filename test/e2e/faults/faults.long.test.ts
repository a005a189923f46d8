import { testFaults } from "./fault-tests.ts"

testFaults(name => name === "kill_quota")
