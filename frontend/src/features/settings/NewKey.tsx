import { Button, Checkbox, Group, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useCreateApiKey } from '~/api/access'
import { shownError, useConfirmation } from '~/api/confirmation'
import { meshesQuery } from '~/api/meshes'
import type { ApiKeyCreated, ApiKeyInput, Scope } from '~/api/types'
import { fieldsOf } from '~/lib/problem'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { CopyText } from '~/ui/CopyText'
import { limitOf, MeshChoice } from '~/ui/MeshChoice'
import { pageStyles } from '~/ui/Page'
import { ProofDialog } from '~/ui/ProofDialog'
import { ActionError, Notice } from '~/ui/State'
import { useMissing } from '~/ui/useMissing'
import { FAMILIES, type Family } from './scopes'
import { strings } from './strings'

const LIVES = { 7: strings.sevenDays, 30: strings.thirtyDays, 90: strings.ninetyDays, 365: strings.oneYear }

/** Form that creates an API key and shows its secret. */
export function NewKey() {
  const create = useCreateApiKey()
  const confirmation = useConfirmation()
  const [isLimited, setLimited] = useState(false)
  const [families, setFamilies] = useState<string[]>([])
  const missing = useMissing({ families: isLimited && families.length === 0 ? strings.chooseResources : null })
  const [meshIds, setMeshIds] = useState<string[]>([])
  const meshes = useQuery(meshesQuery)
  const field = fieldsOf(create)

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!missing.isComplete) return // the field says so
    const element = event.currentTarget
    const form = new FormData(element)
    const access: Scope[] = form.get('scope') === 'write' ? ['read', 'write'] : ['read']
    createKey(
      {
        name: String(form.get('name')).trim(),
        scopes: isLimited ? families.flatMap((family) => access.map((one) => `${family}:${one}` as Scope)) : access,
        expires_at: new Date(Date.now() + Number(form.get('days')) * 86_400_000).toISOString(),
        service_account: form.get('service_account') !== null,
        mesh_ids: limitOf(meshIds),
      },
      () => {
        element.reset()
        setLimited(false)
        setFamilies([])
        setMeshIds([])
      },
    )
  }

  function createKey(input: ApiKeyInput, onSuccess: () => void) {
    create.mutate(input, {
      onSuccess,
      onError: (error) => confirmation.ask(error, () => createKey(input, onSuccess)),
    })
  }

  return (
    <>
      <form className={pageStyles.form} onSubmit={submit}>
        <TextInput
          {...field('name')}
          label={strings.name}
          placeholder={strings.keyNameExample}
          required
          withAsterisk={false}
          {...longest(100)}
          w={200}
        />
        <Choice
          name="scope"
          label={strings.keyScope}
          data={{ read: strings.read, write: strings.readWrite }}
          defaultValue="read"
          w={150}
        />
        <Choice
          label={strings.resources}
          data={{ all: strings.allResources, some: strings.someResources }}
          value={isLimited ? 'some' : 'all'}
          onChange={(value) => setLimited(value === 'some')}
          w={170}
        />
        <MeshChoice
          label={strings.meshes}
          all={strings.allMeshes}
          meshes={meshes.data ?? []}
          value={meshIds}
          onChange={setMeshIds}
          error={field('mesh_ids').error}
          width={220}
        />
        <Choice
          name="days"
          label={strings.expiresIn}
          data={LIVES}
          defaultValue="90"
          error={field('expires_at').error}
          w={120}
        />
        <Checkbox name="service_account" label={strings.serviceAccount} description={strings.serviceAccountHint} />
        <Button type="submit" size="sm" loading={create.isPending} onClick={missing.onAttempt}>
          {strings.createKey}
        </Button>
      </form>
      {isLimited && (
        <Checkbox.Group
          label={strings.resourcesOfKey}
          value={families}
          onChange={setFamilies}
          error={missing.at('families')}
          mt="sm"
        >
          <Group mt="xs">
            {(Object.keys(FAMILIES) as Family[]).map((family) => (
              <Checkbox key={family} value={family} label={FAMILIES[family]} />
            ))}
          </Group>
        </Checkbox.Group>
      )}
      <ActionError error={shownError(create.error)} />
      <ProofDialog proof={confirmation} />
      {create.data && <Secret created={create.data} title={strings.keyCreated(create.data.name)} />}
    </>
  )
}

/** The secret of a key, shown once. */
export function Secret({ created, title }: { created: ApiKeyCreated; title: string }) {
  return (
    <>
      <Notice tone="good" title={title}>
        {strings.copyKeyNow}
      </Notice>
      <CopyText text={created.secret} label={strings.apiKey} />
    </>
  )
}
