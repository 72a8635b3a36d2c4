import { testStorageFaults } from '../contracts/storage-faults.ts';

testStorageFaults({ rounds: 5, seed: 5 });
