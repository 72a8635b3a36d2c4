import { testStorageFaults } from '../contracts/storage-faults.ts';

testStorageFaults({ rounds: 5, seed: 5, faults: 'one' });
testStorageFaults({ rounds: 5, seed: 6, faults: 'many' });
