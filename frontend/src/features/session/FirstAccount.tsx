import { Button, PasswordInput, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { createFirstAccount, type SignedIn, signIn } from '~/api/access'
import type { FirstAccountInput } from '~/api/types'
import { Problem } from '~/lib/problem'
import { centredStyles } from '~/ui/CentredPage'
import { longest } from '~/ui/CheckedInput'
import { ActionError } from '~/ui/State'
import { SessionForm } from './SessionForm'
import { strings } from './strings'

/** The first account of an installation. Its code follows "#" in the link of the log, so that no server receives it. */
export function FirstAccount({ onCreated }: { onCreated: (result: SignedIn) => void }) {
  const [code] = useState(() => new URLSearchParams(location.hash.slice(1)).get('code') ?? '')
  const create = useMutation({
    mutationFn: async (account: FirstAccountInput) => {
      await createFirstAccount(account)
      return signIn(account.email, account.password)
    },
    onSuccess: onCreated,
  })
  const shared = (name: string) => ({
    name,
    required: true,
    withAsterisk: false,
    error: create.error instanceof Problem ? create.error.field(name) : undefined,
  })
  return (
    <SessionForm
      title={strings.firstAccount}
      onSubmit={(value) =>
        create.mutate({
          code: value('code').trim(),
          email: value('email').trim(),
          password: value('password'),
          tenant_name: value('tenant_name').trim(),
        })
      }
    >
      <p className={centredStyles.lead}>{strings.firstAccountLead}</p>
      <TextInput label={strings.code} description={strings.firstAccountCode} defaultValue={code} {...shared('code')} />
      <TextInput label={strings.tenant} description={strings.tenantHint} {...longest(100)} {...shared('tenant_name')} />
      <TextInput label={strings.email} type="email" autoComplete="username" {...shared('email')} />
      <PasswordInput
        label={strings.password}
        description={strings.passwordHint}
        autoComplete="new-password"
        minLength={10}
        visibilityToggleButtonProps={{ 'aria-label': strings.showPassword }}
        {...shared('password')}
      />
      <ActionError error={create.error} />
      <Button type="submit" size="sm" loading={create.isPending}>
        {strings.createAccount}
      </Button>
    </SessionForm>
  )
}
