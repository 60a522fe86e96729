import { NativeSelect, PasswordInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { longest } from './CheckedInput'
import { strings } from './strings'

type Scheme = 'none' | 'bearer' | 'basic' | 'header'

const SECRETS = { bearer: strings.token, basic: strings.password, header: strings.headerValue }
const SCHEMES = Object.entries(strings.authentications).map(([value, label]) => ({ value, label }))

interface Props {
  /** The credentials that exist, which are kept unless others are typed. */
  kept?: string | undefined
  wrong: (pointer: string) => string | undefined
}

/** Credentials for a server of the tenant. */
export function AuthenticationFields({ kept, wrong }: Props) {
  const [scheme, setScheme] = useState(kept === undefined ? 'none' : 'kept')
  return (
    <>
      <NativeSelect
        name="scheme"
        label={strings.authentication}
        data={kept === undefined ? SCHEMES : [{ value: 'kept', label: kept }, ...SCHEMES]}
        value={scheme}
        onChange={({ currentTarget: { value } }) => setScheme(value)}
        error={wrong('authentication')}
      />
      {scheme === 'basic' && <TextInput name="username" label={strings.username} required {...longest(200)} w={200} />}
      {scheme === 'header' && (
        <TextInput
          name="header"
          label={strings.header}
          placeholder={strings.headerExample}
          required
          {...longest(100)}
          w={200}
          error={wrong('authentication/header/name')}
        />
      )}
      {scheme in SECRETS && (
        <PasswordInput
          name="secret"
          label={SECRETS[scheme as keyof typeof SECRETS]}
          description={strings.secretHint}
          autoComplete="off"
          required
          w={300}
        />
      )}
    </>
  )
}

/** Return the credentials that were typed, null for none; undefined where those that exist are kept. */
export function authenticationIn(form: FormData) {
  const text = (name: string) => String(form.get(name) ?? '').trim()
  const scheme = text('scheme') as Scheme | 'kept'
  if (scheme === 'kept') return undefined
  if (scheme === 'bearer') return { scheme, token: text('secret') }
  if (scheme === 'basic') return { scheme, username: text('username'), password: text('secret') }
  if (scheme === 'header') return { scheme, name: text('header'), value: text('secret') }
  return null
}
