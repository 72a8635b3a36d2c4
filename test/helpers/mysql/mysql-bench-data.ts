/** Statements that fill an empty MariaDB database with generated rows: about `megabytes` as text, half in one table. */
export function mysqlBenchData({ megabytes, tables = 39 }: { megabytes: number; tables?: number }): string[] {
  const half = (megabytes * 1024 * 1024) / 2;
  const large = Math.round(half / LARGE_ROW_BYTES);
  const small = Math.round(half / tables / SMALL_ROW_BYTES);
  return [
    `CREATE TABLE event (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, account_id BIGINT NOT NULL, kind VARCHAR(20) NOT NULL,
       happened DATETIME NOT NULL, amount DECIMAL(12, 2), path VARCHAR(100) NOT NULL, agent VARCHAR(200) NOT NULL, trace CHAR(32) NOT NULL,
       KEY account_id (account_id), KEY kind_happened (kind, happened), KEY trace (trace))`,
    `INSERT INTO event SELECT seq, 1 + CRC32(seq) % ${small}, ELT(1 + CRC32(seq + 3) % 6, 'view', 'search', 'add_to_cart', 'checkout', 'payment', 'refund'),
       '2024-01-01' + INTERVAL FLOOR(seq * 1.7) SECOND, (CRC32(seq + 5) % 1000000) / 100,
       CONCAT('/shop/', ELT(1 + CRC32(seq + 9) % 5, 'shoes', 'lamps', 'books', 'garden', 'kitchen'), '/', CRC32(seq + 1) % 5000),
       CONCAT('Mozilla/5.0 (', ELT(1 + CRC32(seq + 21) % 3, 'X11; Linux x86_64', 'Macintosh; Intel Mac OS X 14_5', 'Windows NT 10.0; Win64; x64'),
         ') AppleWebKit/537.', CRC32(seq + 21) % 37, ' Chrome/', CRC32(seq + 21) % 1201, '.0 Safari/537'),
       MD5(FLOOR(seq / 3)) FROM seq_1_to_${large}`,
    ...Array.from({ length: tables }, (_, number) => smallTable(number + 1, small)).flat(),
    'ANALYZE TABLE event',
  ];
}

const LARGE_ROW_BYTES = 183;
const SMALL_ROW_BYTES = 110;

function smallTable(number: number, rows: number): string[] {
  const name = `part_${String(number).padStart(2, '0')}`;
  return [
    `CREATE TABLE ${name} (id BIGINT NOT NULL PRIMARY KEY, title VARCHAR(100) NOT NULL, body TEXT NOT NULL, price DECIMAL(10, 2),
       stock INT, changed DATETIME, KEY changed (changed), KEY title (title))`,
    `INSERT INTO ${name} SELECT seq, CONCAT(ELT(1 + CRC32(seq + ${number}) % 5, 'shoes', 'lamps', 'books', 'garden', 'tea'), ' no. ', seq),
       CONCAT(ELT(1 + CRC32(seq * ${number}) % 4, 'music', 'toys', 'tools', 'bicycles'), ', made by ', ELT(1 + CRC32(seq + 5) % 5, 'Ada', 'Grace', 'Edsger', 'Barbara', 'Donald'),
         ' in ', 1990 + CRC32(seq) % 35, ' #', SUBSTR(MD5(seq + ${number}), 1, 12)),
       (CRC32(seq + 2) % 100000) / 100, CRC32(seq + 8) % 500, '2023-05-05' + INTERVAL seq * 97 SECOND FROM seq_1_to_${rows}`,
  ];
}
