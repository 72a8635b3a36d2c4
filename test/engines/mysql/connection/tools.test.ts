import { expect, it } from 'vitest';
import { readToolVersion } from '../../../../src/engines/mysql/connection/tools.ts';

const ANSWERS = [
  [
    'mysql  Ver 15.1 Distrib 10.11.6-MariaDB, for debian-linux-gnu (x86_64) using  EditLine wrapper',
    'mariadb',
    '10.11.6',
  ],
  ['mariadb from 11.4.2-MariaDB, client 15.2 for Linux (x86_64) using readline 5.1', 'mariadb', '11.4.2'],
  ['/usr/bin/mysql  Ver 9.7.4-2 for Linux on x86_64 ((Debian))', 'mysql', '9.7.4'],
  ['mysql  Ver 14.14 Distrib 5.7.44, for Linux (x86_64) using  EditLine wrapper', 'mysql', '5.7.44'],
];

it('reads the flavour from the version text of a client, not from its name', () => {
  for (const [answer, flavour, version] of ANSWERS) {
    expect(readToolVersion(answer ?? '', { name: 'mysql', path: '/usr/bin/mysql' })).toMatchObject({
      flavour,
      version,
    });
  }
});
