import { Checkbox, Group, TextInput } from '@mantine/core'
import { labelled } from '~/lib/options'
import { longest } from '~/ui/CheckedInput'
import { Choice } from '~/ui/Choice'
import { NumberField } from '~/ui/NumberField'
import { type Fields, TABLES } from './exportForm'
import { strings } from './strings'

interface Props {
  initial: Fields
  /** The export exists: its secret is kept unless another one is typed. */
  exists: boolean
  wrong: (pointer: string) => string | undefined
}

const SCHEDULES = labelled(strings.schedules)

/** The fields of a bucket export. */
export function ExportFields({ initial, exists, wrong }: Props) {
  const text = (name: keyof Fields, label: string, most: number) => ({
    name,
    label,
    defaultValue: String(initial[name]),
    error: wrong(name),
    autoComplete: 'off',
    withAsterisk: false,
    ...longest(most),
  })
  return (
    <>
      <TextInput {...text('name', strings.name, 100)} placeholder={strings.nameExample} required w={200} />
      <TextInput
        {...text('endpoint', strings.endpoint, 300)}
        type="url"
        description={strings.endpointHelp}
        placeholder={strings.endpointExample}
        w={260}
      />
      <TextInput {...text('region', strings.region, 40)} required w={130} />
      <TextInput {...text('bucket', strings.bucket, 63)} required w={200} />
      <TextInput {...text('prefix', strings.prefix, 200)} description={strings.prefixHelp} w={200} />
      <TextInput {...text('access_key', strings.accessKey, 200)} required w={220} />
      <TextInput
        name="secret"
        type="password"
        label={strings.secret}
        placeholder={exists ? strings.secretKept : ''}
        required={!exists}
        withAsterisk={false}
        autoComplete="off"
        error={wrong('secret')}
        {...longest(500)}
        w={240}
      />
      <Choice
        name="schedule"
        label={strings.schedule}
        description={strings.scheduleHelp}
        defaultValue={initial.schedule}
        data={SCHEDULES}
        error={wrong('schedule')}
        w={260}
      />
      <NumberField
        name="hour"
        label={strings.hour}
        min={0}
        max={23}
        step={1}
        required
        withAsterisk={false}
        defaultValue={String(initial.hour)}
        error={wrong('hour')}
        w={110}
      />
      <Checkbox.Group label={strings.tables} defaultValue={initial.tables} error={wrong('tables')} w="100%">
        <Group gap="md" mt="xs">
          {TABLES.map((table) => (
            <Checkbox key={table} name="tables" value={table} label={strings.tableNames[table]} />
          ))}
        </Group>
      </Checkbox.Group>
      {exists && <Checkbox name="paused" defaultChecked={initial.paused} label={strings.paused} />}
    </>
  )
}
