import { ledgerContract } from '../contracts/ledger.ts';
import { CONTRACT_HOSTS } from '../contracts/servers.ts';

// All servers, with many rounds: ledger.full.test.ts. What MySQL stores rows in: ledger-shapes.test.ts.
for (const { describe, start } of CONTRACT_HOSTS.postgres) {
  describe('the contract of ledgers', () => ledgerContract(start, { schemaChanges: 10, weakQueries: 1, rebuilds: 1 }));
}
