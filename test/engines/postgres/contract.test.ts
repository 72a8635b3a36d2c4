import { engineContract } from '../../contracts/engine.ts';
import { describeWithPostgres, startPostgres } from '../../helpers/postgres-server.ts';

const FILL = `
  CREATE TABLE parent (id integer PRIMARY KEY, code text UNIQUE);
  INSERT INTO parent VALUES (0, 'NULL'), (1, 'tab' || chr(9)), (2, NULL);
  CREATE TABLE child (id bigserial PRIMARY KEY, parent_id integer REFERENCES parent, note text DEFAULT '\\N');
  INSERT INTO child (parent_id) SELECT i % 3 FROM generate_series(1, 2000) i;
  CREATE INDEX ON child (note);
  CREATE VIEW notes AS SELECT code, note FROM parent JOIN child ON parent_id = parent.id;`;

describeWithPostgres('postgres: the contract of engines', () => {
  engineContract(async () => {
    const server = await startPostgres();
    return {
      ...server,
      deniedUrl: (database) => server.url(database).replace(/:[^:@/]*@/, ':not-it@'),
      fill: (database) => server.psql(database, { sql: FILL }).then(() => {}),
      run: (database, statement) => server.psql(database, { sql: statement }),
    };
  });
});
