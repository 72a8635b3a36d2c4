import { ENGINE_IDS } from '../../src/engines/list.ts';
import { rehearsalContract } from '../contracts/rehearsal.ts';
import { testedHosts } from '../contracts/servers.ts';

for (const id of ENGINE_IDS) {
  for (const { describe, start } of testedHosts(id))
    describe('the contract of rehearsals', () => rehearsalContract(start));
}
