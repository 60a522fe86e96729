/** Texts of the page that adds a VM. */

import { words } from '~/lib/words'

export const strings = {
  ...words,
  firstWindow: 'First window received',
  stoppedReporting: 'Stopped reporting',
  enrolledWaiting: 'Enrolled, waiting for its first window',
  arrivals: 'New machines',
  reportAlready: (count: number) =>
    count === 1 ? '1 machine of this mesh reports already.' : `${count} machines of this mesh report already.`,
  stopped: (count: number) =>
    count === 1 ? '1 machine of this mesh stopped reporting.' : `${count} machines of this mesh stopped reporting.`,
  waitingForMachine: 'Waiting for the first machine to enrol…',
  arrivalsHint: 'New machines appear here as soon as they enrol.',
  machinesOfMesh: 'Machines of this mesh',
  newPrefix: 'new, ',
  enrolledAgo: (prefix: string) => `${prefix}enrolled`,
  secondMachine: 'A path needs two machines: run the command on a second one.',
  firewallHint:
    'No window after 30 seconds? Machines exchange packets over UDP ports 319 and 320 by default: check security groups and firewalls.',
  checkCommand: 'sinemora-agent check',
  checkCommandEffect: 'tests all requirements.',
  openHeatmap: 'Open the heatmap',
  commandTitle: 'Run one command on each machine',
  agentIs: 'The agent is a single program,',
  agentDetails:
    ', without dependencies. It never sets the system clock. The heatmap groups machines by zone: the agent detects it on AWS, Azure and Google Cloud; elsewhere, enter it here to include it in the command.',
  machines: 'Number of machines',
  meshFirst: 'Choose or create a mesh first.',
  newCommand: 'Create new command',
  showCommand: 'Create command',
  loopbackTitle: 'Other machines cannot reach this backend.',
  loopbackLead: (address: string) => `The command names ${address}, an address of the backend’s own machine. Set`,
  loopbackEnd: 'to an address that your VMs can reach, then create a new command.',
  installHint: 'Install the agent as a service; the download is verified:',
  noPackagesHint:
    'Install the agent first. This backend has no packages of it yet: build them in its checkout, then create a new command, which installs the agent too.',
  buildPackages: 'make packages',
  buildPackagesCommand: 'Command that builds the packages',
  installCommand: 'Command that installs the agent',
  cloudInitHint: 'As user data of new VMs (cloud-init):',
  cloudInitData: 'User data for cloud-init',
  installedHint: 'Where the agent is installed, run:',
  runCommand: 'Command to run on the VM',
  commandExpired: 'This command has expired. Create a new one.',
  oneMachine: 'one machine',
  machineCount: (count: number) => `${count} machines`,
  commandValidity: (machines: string, time: string, remaining: string) =>
    `Valid for ${machines} until ${time}, for another ${remaining}. It is shown only once. Ports below 1024 need a privilege to bind;`,
  and: 'and',
  otherPorts: 'choose others.',
  meshLead: 'A mesh is a group of VMs that measure the delay between each other.',
  meshToJoin: 'Mesh to join',
  createMesh: 'Create mesh',
  addVmLead: 'Run one command on each machine. Delays appear a few seconds after the second machine reports.',
  viewerHint: 'Your role is viewer: ask an editor or owner to enrol machines.',
}
