import { ENGINE_IDS } from '../../src/engines/list.ts';
import { rehearsalContract } from '../contracts/rehearsal.ts';
import { CONTRACT_HOSTS } from '../contracts/servers.ts';

for (const id of ENGINE_IDS) {
  for (const { describe, start } of CONTRACT_HOSTS[id])
    describe('the contract of rehearsals', () => rehearsalContract(start));
}
