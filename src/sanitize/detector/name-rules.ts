import type { ColumnFamily } from '../column-facts.ts';
import type { PersonalKind } from './kinds.ts';
import { exactly, words } from './words.ts';

export interface NameRule {
  kind: PersonalKind;
  column: RegExp;
  /** Words that change the meaning. */
  except?: RegExp;
  table?: RegExp;
  /** Only in a table of people: by its name, or because another rule found personal data. */
  amongPeople?: true;
  families: ColumnFamily[];
  /** Reports whether a value can be of this kind; implausible values outvote the name. */
  plausible?: (value: string) => boolean;
}

const digits = (least: number) => (value: string) => value.replaceAll(/\D/g, '').length >= least;
const nameLike = (value: string) => /\p{L}/u.test(value) && !/\d{3}|[@/{}<>=]/.test(value) && value.length <= 80;
const TEXT: ColumnFamily[] = ['text'];
const TEXT_OR_NUMBER: ColumnFamily[] = ['text', 'number'];

/** The first match counts: special rules come before general ones. */
export const NAME_RULES: NameRule[] = [
  {
    kind: 'email',
    column: words`
      e ?mails? | mail | e ?mail ?adress(?:e|es)? | courriel | correo | posta elettronica
    `,
    except: words`
      verified | sent | template | subject | count | status | type | body | server | host
    `,
    families: TEXT,
    plausible: (value) => value.includes('@'),
  },
  {
    kind: 'secret',
    column: words`
      \w*passwor[dt]\w* | passwd | pwd | pass ?(?:phrase|code|hash|wd) | kennwort | mot de passe | mdp |
      contrasena | senha | haslo | secret\w* | tokens? | api ?key |
      (?:private|access|session|encryption) ?key | session ?id | otp | totp | mfa | recovery codes? |
      credentials? | pin
    `,
    except: words`
      type | expires? | at | count | url | length | policy | hint | public | name | label
    `,
    families: TEXT,
    plausible: (value) => value.length >= 4,
  },
  {
    kind: 'ip_address',
    column: words`ip | ips | ip ?addr(?:ess)? | remote addr | ipv ?[46]`,
    families: ['text', 'network'],
    plausible: (value) => /[.:]/.test(value),
  },
  {
    kind: 'device',
    column: words`
      user ?agent | imei | imsi | iccid | mac(?: addr(?:ess)?)? | udid | idfa | gaid | advertising id |
      device ?(?:id|token) | fingerprint
    `,
    families: ['text', 'number', 'hardware'],
    plausible: (value) => value.length >= 8,
  },
  {
    kind: 'card',
    column: words`
      (?:credit|debit|payment)? ?card ?(?:no|nr|num|number) | credit ?card | pan | ccn |
      cc ?(?:no|num|number) | kartennummer | kreditkarte\w* | carte bancaire | numero (?:de )?carte |
      tarjeta | cartao | carta di credito
    `,
    families: TEXT_OR_NUMBER,
    plausible: digits(12),
  },
  {
    kind: 'card',
    column: words`
      cvv ?2? | cvc ?2? | csc | last ?(?:4|four)(?: digits)? | exp(?:iry|iration)? (?:month|year)
    `,
    families: TEXT_OR_NUMBER,
  },
  {
    kind: 'card',
    column: words`
      exp | expires?(?: at| on)? | expiry(?: date)? | expiration(?: date)? | valid (?:thru|until|to)
    `,
    table: words`\w*cards? | payment methods? | karten? | cartes?`,
    families: ['text', 'date', 'time', 'number'],
  },
  {
    kind: 'iban',
    column: words`
      ibans? | bank ?account(?: no| nr| num| number)? | account ?(?:no|nr|num|number) | konto(?:nummer|nr)? |
      bankkonto | bankverbindung | rachunek bankowy | nr rachunku | rekeningnummer |
      numero (?:de )?(?:compte|cuenta|conta) | conta bancaria | conto corrente
    `,
    families: TEXT_OR_NUMBER,
    plausible: digits(6),
  },
  {
    kind: 'national_id',
    column: words`
      ssn | social security(?: no| number)? | national (?:id|identifier|identity|insurance)(?: no| number)? |
      nino | tax (?:id|number|no) | tin | passport(?: no| nr| number)? | passnummer | \w*ausweis\w* |
      steuer ?(?:id|nummer|identifikationsnummer) | sozialversicherung\w* | svnr | securite sociale | nss |
      dni | nie | nif | curp | cpf | pesel | bsn | burgerservicenummer | codice fiscale | personnummer |
      fodselsnummer | cnp | aadhaar | driver s? ?licen[cs]e(?: no| number)? | fuhrerschein\w* |
      permis (?:de )?conduire | id card(?: no| number)?
    `,
    families: TEXT_OR_NUMBER,
    plausible: (value) => /\d/.test(value) && value.length >= 5,
  },
  {
    kind: 'address',
    column: words`
      birth ?place | place of birth | geburtsort | lieu (?:de )?naissance | lugar (?:de )?nacimiento |
      luogo (?:di )?nascita | miejsce urodzenia
    `,
    families: TEXT,
  },
  {
    kind: 'birth_date',
    column: words`
      birth ?(?:date|day)? | date of birth | dob | born(?: on| at)? | geburts(?:datum|tag) |
      (?:date )?(?:de )?naissance | (?:fecha )?(?:de )?nacimiento | (?:data )?(?:de )?nascimento |
      (?:data )?(?:di )?nascita | data urodzenia | geboorte ?datum | fodselsdato | fodelsedatum
    `,
    families: ['date', 'time', 'text'],
    plausible: digits(4),
  },
  {
    kind: 'phone',
    column: words`
      \w*phones? | tel | telephones? | telefono? | telefonu | telefone | telefoon\w* | telefonnummer |
      mobile? | mobilnummer | cell(?: ?phone)? | celular | cellulare | handy\w* | portable | fax | msisdn |
      gsm | rufnummer | whatsapp
    `,
    except: words`code | type | model | verified | brand | at | count`,
    families: TEXT_OR_NUMBER,
    plausible: digits(5),
  },
  {
    kind: 'finance',
    column: words`
      salar(?:y|ies) | wages? | income | gehalt | \w*lohn | salaire | salario | stipendio | wynagrodzenie |
      \w*loon | net worth | credit score | remuneration
    `,
    families: TEXT_OR_NUMBER,
    plausible: digits(1),
  },
  {
    kind: 'sensitive',
    column: words`
      gender | sex | sexe | sexo | sesso | plec | geschlecht | geslacht | anrede | salutation | civilite |
      religion | konfession | ethnic\w* | race | nationality | nationalite | nacionalidad |
      staatsangehorigkeit | staatsangehoerigkeit | citizenship | marital(?: status)? | familienstand |
      blood(?: type| group)? | groupe sanguin | blutgruppe | diagnos\w* | disease | allerg\w* |
      medications? | disabilit\w* | sexual orientation
    `,
    families: ['text', 'number', 'other'],
  },
  {
    kind: 'sensitive',
    column: words`results? | resultats? | resultados? | befund\w* | findings?`,
    table: words`exam\w* | lab\w* | medical\w* | clinic\w* | patient\w* | untersuchung\w*`,
    families: ['text', 'number', 'document'],
  },
  {
    kind: 'name',
    column: words`
      (?:first|last|given|family|full|middle|maiden|sur|birth|legal) ?names? | surname | fname | lname |
      forename | vorname | nachname | familienname | geburtsname | prenom | nom (?:de )?famille |
      nom (?:de )?jeune fille | nom complet | nombre completo | apellidos? | nome completo | sobrenome |
      cognome | imie | nazwisko | voornaam | achternaam | fornavn | etternavn | efternamn |
      (?:card|account|policy)? ?holder(?: name)? | cardholder | \w*inhaber | titulaire | titular |
      intestatario | ansprechpartner | sachbearbeiter | bearbeiter |
      (?:contact|customer|client|patient|employee|owner|recipient|sender|author|user|guest|emergency contact)(?: person)? (?:full )?name |
      contact person | (?:ship|shipping|bill|billing|deliver|delivery)(?: to)? name | medecin\w* |
      physician | beneficiary | empfanger | recipient
    `,
    except: words`id | count | type | at | product | company`,
    families: TEXT,
    plausible: nameLike,
  },
  {
    kind: 'name',
    column: exactly`
      names? | nom | nome | nombre | naam | navn | namn | nazwa | display name | nick ?name | contact
    `,
    amongPeople: true,
    families: TEXT,
    plausible: nameLike,
  },
  {
    kind: 'login',
    column: words`
      user ?name | login(?: name)? | screen ?name | benutzername | identifiant | provider uid |
      oauth (?:uid|id)
    `,
    except: words`count | at | attempts?`,
    families: TEXT,
  },
  {
    kind: 'address',
    column: words`
      streets?(?: name| address)? | addr(?:ess)?(?: line)? | addresses | strassen?(?:name)? | hausnummer |
      house ?(?:no|nr|number) | adresse?s? | adres | anschrift | direccion | domicilio | endereco | indirizzo |
      straat\w* | ulica | zip ?(?:code)? | post(?:al)? ?code | plz | postleitzahl | code postal |
      codigo postal | cep | kod pocztowy | wohnort | woonplaats | residence
    `,
    except: words`ip | mac | web | email | e mail | mail | remote | http | type | id | country`,
    families: TEXT_OR_NUMBER,
  },
  {
    kind: 'address',
    column: words`
      city | town | ort | stadt | ville | ciudad | cidade | citta | comune | cap | miasto | miejscowosc |
      plaats | localite | localidad | district | county
    `,
    except: words`id | code`,
    amongPeople: true,
    families: TEXT,
  },
  {
    kind: 'vehicle',
    column: words`
      licen[cs]e ?plate | number ?plate | plate(?: no| number)? | kennzeichen | fahrgestellnummer | vin |
      immatriculation | kenteken | targa
    `,
    families: TEXT,
    plausible: digits(1),
  },
  {
    kind: 'photo',
    column: words`
      avatar | photo | portrait | profile ?(?:image|picture|pic|photo) | selfie | signature image
    `,
    families: ['text', 'binary'],
  },
  {
    kind: 'location',
    column: words`lat | latitude | lng | lon | longitude | geo ?location | coordinates? | gps`,
    families: ['number', 'text', 'other'],
  },
];

/** Names of tables of people. */
export const PEOPLE = words`
  customers? | clients? | users? | persons? | people | employees? | staff | members? | patients? |
  contacts? | students? | teachers? | drivers? | guests? | applicants? | candidates? | leads? |
  subscribers? | passengers? | authors? | address(?:es)? | profiles? | kunden? | mitarbeiter |
  personen? | benutzer | patienten | schuler | lehrer | mitglied(?:er)? | adressen? | kontakte? |
  utilisateurs? | employes? | eleves? | personnes? | adherents? | alumnos? | empleados? | usuarios? |
  personas? | profesor(?:es)? | professor(?:es)? | funcionarios? | pessoas? | clientes? | client[ei] |
  dipendent[ei] | utent[ei] | pazient[ei] | person[ae] | pracowni(?:k|cy) | klien(?:t|ci) | osob[ay] |
  werknemers? | klant(?:en)? | medewerkers? | personeel | ansatte? | kunder?
`;
