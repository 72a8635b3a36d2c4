import { ENGINE_IDS } from '../../src/engines/list.ts';
import { ledgerContract } from '../contracts/ledger.ts';
import { CONTRACT_HOSTS } from '../contracts/servers.ts';

// All servers, with many rounds: ledger.full.test.ts.
for (const id of ENGINE_IDS) {
  for (const { describe, start } of CONTRACT_HOSTS[id].slice(0, 1)) {
    describe('the contract of ledgers', () =>
      ledgerContract(start, { schemaChanges: 10, weakQueries: 1, rebuilds: 1 }));
  }
}
