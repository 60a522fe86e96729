import { TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { serverNow } from '~/api/connection'
import { useCreateEmbedLink } from '~/api/embeds'
import { meshesQuery } from '~/api/meshes'
import { named } from '~/lib/options'
import { fieldsOf } from '~/lib/problem'
import { ActionForm } from '~/ui/ActionForm'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { CopyText } from '~/ui/CopyText'
import { Dialog } from '~/ui/Dialog'
import { pageStyles } from '~/ui/Page'
import { Notice } from '~/ui/State'
import { strings } from '../strings'
import { EmbedLinks } from './EmbedLinks'
import { type EmbedTarget, embedAddress, embedSnippet } from './embedView'

const LIVES = { 7: strings.sevenDays, 30: strings.thirtyDays, 90: strings.ninetyDays, 365: strings.oneYear }

interface Props {
  target: EmbedTarget
  opened: boolean
  onClose: () => void
}

/** Creates a link to the open view for readers without an account, and lists the links there are. */
export function EmbedDialog({ target, opened, onClose }: Props) {
  return (
    <Dialog title={strings.embed} opened={opened} onClose={onClose}>
      <div className={pageStyles.panelForm}>
        <p className={pageStyles.lead}>{strings.embedLead}</p>
        <NewLink target={target} />
        <EmbedLinks />
      </div>
    </Dialog>
  )
}

function NewLink({ target }: { target: EmbedTarget }) {
  const create = useCreateEmbedLink()
  const search = useLocation({ select: ({ searchStr }) => searchStr })
  const { data: meshes } = useQuery(meshesQuery)
  const [chosen, setChosen] = useState('')
  const meshId = target.mesh_id ?? (chosen || meshes?.[0]?.id)
  const field = fieldsOf(create)

  function submit(form: FormData) {
    if (!meshId) return
    create.mutate({
      ...target,
      mesh_id: meshId,
      name: String(form.get('name')).trim(),
      expires_at: new Date(serverNow() + Number(form.get('days')) * 86_400_000).toISOString(),
    })
  }

  const address = create.data && embedAddress(location.origin, search, create.data.token)
  return (
    <>
      <ActionForm onSubmit={submit} doing={create} action={strings.createLink}>
        <TextInput
          {...field('name')}
          label={strings.embedName}
          placeholder={strings.embedNameExample}
          required
          withAsterisk={false}
          {...longest(100)}
          data-autofocus
          w={200}
        />
        {target.mesh_id === undefined && (
          <Choice label={strings.mesh} data={named(meshes)} value={meshId ?? ''} onChange={setChosen} w={140} />
        )}
        <Choice
          name="days"
          label={strings.expiresIn}
          data={LIVES}
          defaultValue="30"
          error={field('expires_at').error}
          w={120}
        />
      </ActionForm>
      {create.data && address && (
        <>
          <Notice tone="good" title={strings.linkCreated(create.data.name)}>
            {strings.copyLinkNow}
          </Notice>
          <CopyText text={embedSnippet(address, create.data.name)} label={strings.embedCode} />
          <CopyText text={address} label={strings.embedAddress} />
        </>
      )}
    </>
  )
}
