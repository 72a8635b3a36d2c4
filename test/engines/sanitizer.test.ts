import { ENGINE_IDS } from '../../src/engines/list.ts';
import { sanitizerContract } from '../contracts/sanitizer.ts';
import { testedHosts } from '../contracts/servers.ts';

for (const id of ENGINE_IDS) {
  for (const { describe, start } of testedHosts(id)) {
    describe('the contract of sanitizers', () => sanitizerContract(start));
  }
}
