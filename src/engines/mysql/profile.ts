import type { EngineProfile } from '../profile.ts';

export const profile = {
  id: 'mysql',
  products: ['MySQL', 'MariaDB'],
  schemes: ['mysql', 'mariadb', 'mydocker'],
  defaultPort: 3306,
  hasSchemas: false,
  client: 'mysql',
  nameLimit: { most: 64, lengthOf: ({ length }) => length },
  rows: { byProgram: 'inserted', emptyEnd: true },
  partsFormat: 1,
  defaultImage: 'mysql:8.4',
  withoutPrograms: { works: true, advice: 'nothing to install, but mariadb-client for SQL files' },
  parameters: {
    socket: 'route',
    tls: 'setting',
    sslmode: 'setting',
    'ssl-mode': 'setting',
    'ssl-ca': 'file',
    'ssl-cert': 'file',
    'ssl-key': 'file',
    charset: 'setting',
    definer: 'setting',
  },
  surroundings: {
    variables: /^(MYSQL|MARIADB)_/,
    passwordVariables: ['MYSQL_PWD'],
    passwordFileVariables: [],
    userVariable: 'USER',
    sockets: ['/var/run/mysqld'],
    homeFiles: [],
  },
} satisfies EngineProfile & { id: 'mysql' };
