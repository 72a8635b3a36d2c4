import { testStorageFaults } from '../contracts/storage-faults.ts';

testStorageFaults({ rounds: 100, seed: 55, faults: 'one' });
testStorageFaults({ rounds: 100, seed: 56, faults: 'one', encrypt: true });
testStorageFaults({ rounds: 50, seed: 57, faults: 'many' });
testStorageFaults({ rounds: 50, seed: 58, faults: 'many', encrypt: true });
