import { testFaults } from "./fault-tests.ts"

testFaults("connections")
