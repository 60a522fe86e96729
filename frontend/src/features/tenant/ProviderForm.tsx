import { Textarea, TextInput } from '@mantine/core'
import { type FormEvent, useRef, useState } from 'react'
import { shownError, useConfirmation } from '~/api/confirmation'
import { type IdentityProvider, type IdentityProviderInput, useSetIdentityProvider } from '~/api/identityProvider'
import { Problem } from '~/lib/problem'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { longest } from '~/ui/CheckedInput'
import { CopyText } from '~/ui/CopyText'
import { FormActions } from '~/ui/FormActions'
import { pageStyles } from '~/ui/Page'
import { ProofDialog } from '~/ui/ProofDialog'
import { useEdited } from '~/ui/useEdited'
import { strings } from './singleSignOnStrings'

interface Fields {
  issuer: string
  client_id: string
  scopes: string
  groups_claim: string
  roles: string
}

const NEW: Fields = {
  issuer: '',
  client_id: '',
  scopes: 'openid email profile',
  groups_claim: 'groups',
  roles: '',
}

const fieldsOf = (row: IdentityProvider): Fields => ({ ...row, roles: linesOf(row.roles) })

const linesOf = (roles: IdentityProvider['roles']) =>
  Object.entries(roles)
    .map(([group, role]) => `${group}=${role}`)
    .join('\n')

const describe = (fields: Fields) => ({
  [strings.issuer]: fields.issuer,
  [strings.clientId]: fields.client_id,
  [strings.scopes]: fields.scopes,
  [strings.groupsClaim]: fields.groups_claim,
  [strings.roles]: fields.roles,
})

/** Return the roles by group that lines of GROUP=ROLE give; the first line that gives none. */
export function rolesOf(text: string): IdentityProviderInput['roles'] | string {
  const roles: IdentityProviderInput['roles'] = {}
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (!line) continue
    const [, group, role] = /^(.+)=\s*(viewer|editor|admin)$/.exec(line) ?? []
    if (!group || !role) return line
    roles[group.trim()] = role as 'viewer' | 'editor' | 'admin'
  }
  return roles
}

/** Set the provider. A secret that is not typed again is kept. */
export function ProviderForm({ row, close }: { row: IdentityProvider | null; close: () => void }) {
  const set = useSetIdentityProvider()
  const form = useRef<HTMLFormElement>(null)
  const confirmation = useConfirmation()
  const [badLine, setBadLine] = useState<string | null>(null)
  const edited = useEdited(row ? fieldsOf(row) : NEW, String(row?.version ?? 0), describe)
  const wrong = (name: string) => (set.error instanceof Problem ? set.error.field(name) : undefined)
  const value = (name: string) => String(new FormData(form.current ?? undefined).get(name) ?? '').trim()
  const typed = (): Fields => ({
    issuer: value('issuer'),
    client_id: value('client_id'),
    scopes: value('scopes'),
    groups_claim: value('groups_claim'),
    roles: value('roles'),
  })

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const { roles: lines, ...fields } = typed()
    const roles = rolesOf(lines)
    setBadLine(typeof roles === 'string' ? roles : null)
    if (typeof roles !== 'string') save({ ...fields, roles })
  }

  function save(fields: IdentityProviderInput) {
    const secret = value('client_secret')
    set.mutate(
      { ...fields, ...(secret && { client_secret: secret }), version: edited.version },
      { onSuccess: close, onError: (error) => confirmation.ask(error, () => save(fields)) },
    )
  }

  const text = (name: keyof Fields, label: string, most: number) => ({
    name,
    label,
    defaultValue: edited.initial[name],
    error: wrong(name),
    autoComplete: 'off',
    required: true,
    withAsterisk: false,
    ...longest(most),
  })
  return (
    <>
      <form className={pageStyles.panelForm} onSubmit={submit} ref={form} key={edited.formKey}>
        <div>
          <p>{strings.redirectUri}</p>
          <CopyText
            label={strings.redirectUri}
            text={row?.redirect_uri ?? `${location.origin}/v1/auth/provider/callback`}
          />
        </div>
        <TextInput {...text('issuer', strings.issuer, 500)} type="url" description={strings.issuerHelp} w="100%" />
        <TextInput {...text('client_id', strings.clientId, 200)} w={220} />
        <TextInput
          name="client_secret"
          type="password"
          label={strings.clientSecret}
          placeholder={row ? strings.unchanged : ''}
          required={!row}
          withAsterisk={false}
          autoComplete="off"
          error={wrong('client_secret')}
          {...longest(1024)}
          w={220}
        />
        <TextInput {...text('scopes', strings.scopes, 500)} w={220} />
        <TextInput {...text('groups_claim', strings.groupsClaim, 200)} w={220} />
        <Textarea
          name="roles"
          label={strings.roles}
          description={strings.rolesHelp}
          placeholder={'noc-leads=admin\nsre=editor\n*=viewer'}
          defaultValue={edited.initial.roles}
          error={badLine === null ? wrong('roles') : strings.rolesWrong(badLine)}
          required
          withAsterisk={false}
          autosize
          minRows={3}
          w="100%"
        />
        <ChangedMeanwhile edited={edited} error={shownError(set.error)} typed={typed} />
        <FormActions onCancel={close} saving={set.isPending} />
      </form>
      <ProofDialog proof={confirmation} />
    </>
  )
}
