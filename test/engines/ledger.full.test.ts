import { ENGINE_IDS } from '../../src/engines/list.ts';
import { ledgerContract } from '../contracts/ledger.ts';
import { CONTRACT_HOSTS } from '../contracts/servers.ts';

for (const id of ENGINE_IDS) {
  for (const { describe, start } of CONTRACT_HOSTS[id]) {
    describe('many rounds of the contract of ledgers', () =>
      ledgerContract(start, { schemaChanges: 1000, weakQueries: 100, rebuilds: 100 }));
  }
}
