import { testStorageFaults } from '../../contracts/storage-faults.ts';

testStorageFaults({ part: 'faults/single' });
testStorageFaults({ part: 'faults/often', often: true });
