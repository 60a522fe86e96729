import { Button, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, Fragment, useRef, useState } from 'react'
import { useEdits } from '~/api/access'
import { useUpdateVm, zonesQuery } from '~/api/inventory'
import type { Vm } from '~/api/types'
import { changedFields } from '~/lib/edited'
import { labelLines, labelsIn, wrongLabel } from '~/lib/labels'
import { fieldsOf } from '~/lib/problem'
import { ChangedMeanwhile } from '~/ui/ChangedMeanwhile'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { Panel, pageStyles } from '~/ui/Page'
import { Notice } from '~/ui/State'
import { useEdited } from '~/ui/useEdited'
import { strings } from './strings'

/** The name, zone and labels of a VM: a form for editors, a text for viewers. */
export function VmSettings({ vm }: { vm: Vm }) {
  const mayEdit = useEdits()
  return (
    <Panel title={strings.vmSettings}>
      <p className={pageStyles.lead}>{strings.labelsLead}</p>
      {mayEdit ? <SettingsForm vm={vm} /> : <p>{labelLines(vm.labels).replaceAll('\n', ', ') || strings.noLabels}</p>}
    </Panel>
  )
}

interface Settings {
  name: string
  zone_id: string
  labels: Record<string, string>
}

const settingsOf = ({ name, zone, labels }: Vm): Settings => ({ name, zone_id: zone.id, labels })

function SettingsForm({ vm }: { vm: Vm }) {
  const { data: zones } = useQuery(zonesQuery)
  const zoneNames = new Map([vm.zone, ...(zones ?? [])].map(({ id, name }) => [id, name]))
  const edited = useEdited(settingsOf(vm), String(vm.version), (settings) => ({
    [strings.name]: settings.name,
    [strings.zone]: zoneNames.get(settings.zone_id) ?? settings.zone_id,
    [strings.labels]: labelLines(settings.labels).replaceAll('\n', ', '),
  }))
  const update = useUpdateVm(vm.id, edited.version)
  const form = useRef<HTMLFormElement>(null)
  const [wrongLine, setWrongLine] = useState<string | null>(null)
  const wrong = fieldsOf(update)

  function typed(): Settings {
    const data = new FormData(form.current as HTMLFormElement)
    const text = (name: string) => String(data.get(name)).trim()
    return { name: text('name'), zone_id: text('zone_id'), labels: labelsIn(text('labels')) }
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const found = wrongLabel(String(new FormData(event.currentTarget).get('labels')))
    setWrongLine(found)
    if (found !== null) return
    const settings = typed()
    update.mutate(changedFields(edited.before, settings), { onSuccess: () => edited.saved(settings) })
  }

  return (
    <>
      <form className={pageStyles.form} onSubmit={submit} ref={form}>
        <Fragment key={edited.formKey}>
          <TextInput
            {...wrong('name')}
            label={strings.name}
            defaultValue={edited.initial.name}
            required
            withAsterisk={false}
            {...longest(100)}
            w={200}
          />
          <Choice
            {...wrong('zone_id')}
            label={strings.zone}
            defaultValue={edited.initial.zone_id}
            data={[...zoneNames].map(([value, label]) => ({ value, label }))}
            w={200}
          />
          <Textarea
            name="labels"
            label={strings.labels}
            placeholder={strings.labelsExample}
            defaultValue={labelLines(edited.initial.labels)}
            error={wrongLine === null ? wrong('labels').error : strings.wrongLabel(wrongLine)}
            autosize
            minRows={2}
            maxRows={8}
            w={260}
          />
        </Fragment>
        <Button type="submit" size="sm" variant="default" loading={update.isPending}>
          {strings.save}
        </Button>
      </form>
      {update.isSuccess && wrongLine === null && <Notice tone="good">{strings.savedVm}</Notice>}
      <ChangedMeanwhile edited={edited} error={update.error} typed={typed} />
    </>
  )
}
