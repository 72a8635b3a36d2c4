export const PERSONAL_KINDS = {
  email: 'e-mail address',
  phone: 'phone number',
  name: 'name of a person',
  login: 'login',
  birth_date: 'date of birth',
  address: 'address',
  national_id: 'national identifier',
  iban: 'bank account',
  card: 'payment card',
  ip_address: 'IP address',
  device: 'device identifier',
  location: 'location',
  secret: 'password, token or key',
  sensitive: 'sensitive trait',
  finance: 'pay or income',
  vehicle: 'vehicle',
  photo: 'picture of a person',
  free_text: 'text with personal data in it',
} as const;

export type PersonalKind = keyof typeof PERSONAL_KINDS;
