import { testStorageFaults } from '../../contracts/storage-faults.ts';

testStorageFaults({ part: 'faults/encrypted', encrypt: true });
testStorageFaults({ part: 'faults/often-encrypted', often: true, encrypt: true });
