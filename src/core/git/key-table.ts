/** exec: runs a command or picks the program. redirect: sends or takes data elsewhere, or loads configuration. */
export type KeyClass = 'exec' | 'redirect' | 'load-file' | 'weaken' | 'inert' | 'harmless';

/** Most dangerous first. */
export const KEY_CLASSES: readonly KeyClass[] = ['exec', 'redirect', 'load-file', 'weaken', 'inert', 'harmless'];

/**
 * Every key that git 2.39 to 2.55, git-lfs and git's bundled scripts read (`git help -c`, git-config(1) and their
 * manuals), in lower case. `<word>` stands for any text, a last `*` for any name of the section, with or without a
 * subsection. This is the one table: the preload guard's header is generated from its exec keys.
 */
export const KEY_TABLE: Readonly<Record<KeyClass, string>> = {
  exec: `
    alias.* alias.*.command branch.<name>.mergeoptions browser.<tool>.cmd browser.<tool>.path
    core.alternaterefscommand core.askpass core.editor core.fsmonitor core.gitproxy core.gvfs core.hookspath
    core.pager core.sshcommand core.virtualfilesystem credential.<url>.* credential.<url>.helper credential.helper
    diff.<driver>.command diff.<driver>.textconv diff.external diff.guitool diff.tool difftool.<tool>.cmd
    difftool.<tool>.path filter.<driver>.clean filter.<driver>.process filter.<driver>.smudge gc.recentobjectshook
    git-p4.* gitcvs.<method>.* gitcvs.dbdriver gpg.<format>.program gpg.program gpg.ssh.defaultkeycommand
    guitool.<name>.cmd gvfs.* help.autocorrect help.browser hook.<friendly-name>.command hook.<friendly-name>.event
    imap.tunnel instaweb.browser instaweb.httpd instaweb.modulepath interactive.difffilter
    lfs.<url>.standalonetransferagent lfs.customtransfer.<n>.args lfs.customtransfer.<n>.path
    lfs.extension.<n>.clean lfs.extension.<n>.smudge lfs.standalonetransferagent man.<tool>.cmd man.<tool>.path
    man.viewer merge.<driver>.driver merge.<driver>.recursive merge.default merge.guitool merge.tool
    mergetool.<tool>.cmd mergetool.<tool>.path mergetool.<variant>.layout mergetool.vimdiff.layout pager.<cmd>
    pull.octopus pull.twohead remote.<name>.receivepack remote.<name>.uploadpack remote.<name>.vcs
    sendemail.<identity>.* sendemail.<identity>.<config> sendemail.cccmd sendemail.headercmd sendemail.sendmailcmd
    sendemail.smtpserver sendemail.tocmd sequence.editor submodule.<name>.update svn-remote.<n>.* svn.*
    tar.<format>.command trailer.<key-alias>.cmd trailer.<key-alias>.command web.browser
  `,
  redirect: `
    branch.<name>.merge branch.<name>.pushremote branch.<name>.remote bundle.* bundle.<id>.* bundle.<id>.uri
    bundle.heuristic bundle.mode bundle.version checkout.defaultremote core.worktree extensions.*
    extensions.partialclone extensions.refstorage extensions.submodulepathconfig extensions.worktreeconfig
    fetch.bundleuri fetch.followremotehead fetch.uriprotocols format.cc format.from format.headers format.to
    http.<url>.* http.curloptresolve http.exe http.extraheader http.followredirects
    http.proxy imap.folder imap.host imap.port imap.user include.path includeif.<condition>.path
    init.defaultsubmodulepathconfig lfs.<url>.access lfs.gitprotocol lfs.pushurl lfs.storage lfs.url
    promisor.acceptfromserver promisor.acceptfromserverurl promisor.advertise promisor.sendfields
    promisor.storefields push.default push.followtags push.pushoption push.recursesubmodules
    remote.<name>.advertisedas remote.<name>.fetch remote.<name>.followremotehead remote.<name>.lfspushurl
    remote.<name>.lfsurl remote.<name>.mirror remote.<name>.partialclonefilter remote.<name>.promisor
    remote.<name>.proxy remote.<name>.push remote.<name>.pushurl remote.<name>.serveroption remote.<name>.tagopt
    remote.<name>.token remote.<name>.url remote.pushdefault remotes.<group> sendemail.bcc sendemail.cc
    sendemail.envelopesender sendemail.from sendemail.identity sendemail.smtpdomain sendemail.smtpserveroption
    sendemail.smtpserverport sendemail.smtpuser sendemail.to submodule.<name>.branch submodule.<name>.gitdir
    submodule.<name>.url submodule.alternatelocation tar.<format>.remote transfer.bundleuri
    uploadpack.advertisebundleuris uploadpack.blobpackfileuri url.<base>.insteadof url.<base>.pushinsteadof
  `,
  'load-file': `
    attr.tree blame.ignorerevsfile commit.template core.attributesfile core.excludesfile core.notesref
    diff.<driver>.cachetextconv diff.orderfile fetch.fsck.skiplist format.outputdirectory format.signaturefile
    fsck.skiplist fsmonitor.socketdir gc.repackfilterto gitcvs.dbname gitcvs.dbpass gitcvs.dbtablenameprefix
    gitcvs.dbuser gitcvs.logfile gitweb.cgi gpg.ssh.allowedsignersfile gpg.ssh.revocationfile gui.spellingdictionary
    help.htmlpath http.cookiefile http.pinnedpubkey http.proxysslcainfo http.proxysslcert http.proxysslkey
    http.savecookies http.sslcainfo http.sslcapath http.sslcert http.sslkey imap.pass mailmap.blob mailmap.file
    notes.displayref notes.rewriteref receive.fsck.skiplist rerere.autoupdate rerere.enabled sendemail.aliasesfile
    sendemail.aliasfiletype sendemail.imapsentfolder sendemail.mailmap sendemail.mailmap.blob sendemail.mailmap.file
    sendemail.smtppass sendemail.smtpsslcertpath sendemail.smtpsslclientcert sendemail.smtpsslclientkey
    user.signingkey
  `,
  weaken: `
    author.email author.name branch.<name>.deletemerged clean.requireforce commit.cleanup commit.gpgsign
    committer.email committer.name core.autocrlf core.bare core.checkstat core.createobject core.eol core.filemode
    core.ignorecase core.ignorestat core.logallrefupdates core.maxtreedepth core.precomposeunicode
    core.prefersymlinkrefs core.protecthfs core.protectntfs core.quotepath core.repositoryformatversion
    core.restrictinheritedhandles core.safecrlf core.sharedrepository core.sparsecheckout core.sparsecheckoutcone
    core.symlinks core.trustctime core.unsetenvvars core.untrackedcache core.usereplacerefs
    credential.<url>.usehttppath credential.<url>.username credential.credentialstore credential.guiprompt
    credential.interactive credential.protectprotocol credential.sanitizeprompt credential.usehttppath
    credential.username daemon.* diff.<driver>.binary diff.<driver>.trustexitcode diff.autorefreshindex
    diff.ignoresubmodules diff.relative diff.submodule diff.trustexitcode difftool.prompt difftool.trustexitcode
    extensions.compatobjectformat extensions.objectformat extensions.preciousobjects extensions.relativeworktrees
    fetch.fsck.<msg-id> fetch.fsckobjects fetch.recursesubmodules fetch.showforcedupdates filter.<driver>.required
    format.pretty fsck.<msg-id> fsmonitor.allowremote gc.<pattern>.reflogexpire gc.<pattern>.reflogexpireunreachable
    gc.auto gc.autopacklimit gc.pruneexpire gc.reflogexpire gc.reflogexpireunreachable gc.repackfilter
    gc.worktreepruneexpire gpg.format gpg.mintrustlevel hook.<event>.enabled hook.<friendly-name>.enabled
    http.delegation http.emptyauth http.proactiveauth http.proxyauthmethod http.proxysslcertpasswordprotected
    http.schannelcheckrevoke http.schannelusesslcainfo http.sslbackend http.sslcertpasswordprotected
    http.sslcipherlist http.ssltry http.sslverify http.sslversion imap.authmethod imap.sslverify index.aux lfs.*
    lfs.<url>.locksverify lfs.fetchexclude lfs.fetchinclude lfs.locksverify lfs.skipdownloaderrors
    lfs.ssh.automultiplex log.date log.excludedecoration log.initialdecorationset log.mailmap log.showsignature
    maintenance.auto merge.renormalize merge.verifysignatures mergetool.<tool>.trustexitcode mergetool.hideresolved
    mergetool.keepbackup mergetool.prompt pretty.<name> promisor.checkfields protocol.<name>.allow protocol.allow
    push.gpgsign push.useforceifincludes rebase.missingcommitscheck rebase.updaterefs receive.advertisepushoptions
    receive.certnonceseed receive.certnonceslop receive.denycurrentbranch receive.denydeletecurrent
    receive.denydeletes receive.denynonfastforwards receive.fsck.<msg-id> receive.fsckobjects receive.hiderefs
    receive.maxinputsize receive.procreceiverefs receive.shallowupdate receive.updateserverinfo
    remote.<name>.proxyauthmethod replay.refaction sendemail.forbidsendmailvariables sendemail.smtpencryption
    sendemail.validate sideband.<url>.* sideband.allowcontrolcharacters sparse.expectfilesoutsideofpatterns
    status.showuntrackedfiles status.submodulesummary submodule.<name>.active
    submodule.<name>.fetchrecursesubmodules submodule.<name>.ignore submodule.active
    submodule.alternateerrorstrategy submodule.propagatebranches submodule.recurse submodule.stickyrecursiveclone
    tag.forcesignannotated tag.gpgsign transfer.advertiseobjectinfo transfer.credentialsinurl transfer.fsckobjects
    transfer.hiderefs uploadarchive.allowunreachable uploadpack.allowanysha1inwant uploadpack.allowfilter
    uploadpack.allowreachablesha1inwant uploadpack.allowrefinwant uploadpack.allowsidebandall
    uploadpack.allowtipsha1inwant uploadpack.hiderefs uploadpackfilter.<filter>.allow uploadpackfilter.allow
    uploadpackfilter.tree.maxdepth user.email user.name user.useconfigonly
  `,
  inert: `
    init.templatedir maintenance.repo safe.barerepository safe.directory scalar.repo trace2.configparams
    trace2.destinationdebug trace2.envvars trace2.eventbrief trace2.eventnesting trace2.eventtarget trace2.maxfiles
    trace2.normalbrief trace2.normaltarget trace2.perfbrief trace2.perftarget uploadpack.packobjectshook
  `,
  harmless: `
    add.* advice.* am.* apply.* bitmappseudomerge.* blame.blankboundary blame.coloring blame.date
    blame.markignoredlines blame.markunblamablelines blame.showemail blame.showroot branch.<name>.description
    branch.<name>.rebase branch.autosetupmerge branch.autosetuprebase branch.sort checkout.guess
    checkout.thresholdforparallelism checkout.workers clone.* color.* column.* commit.status commit.verbose
    commitgraph.* completion.* core.abbrev core.alternaterefsprefixes core.bigfilethreshold
    core.checkroundtripencoding core.commentchar core.commentstring core.commitgraph core.compression
    core.configlocktimeout core.deltabasecachelimit core.disambiguate core.filesreflocktimeout
    core.fsmonitorhookversion core.fsync core.fsyncmethod core.fsyncobjectfiles core.hidedotfiles core.lockfilepid
    core.loosecompression core.multipackindex core.packedgitlimit core.packedgitwindowsize core.packedrefstimeout
    core.preloadindex core.splitindex core.warnambiguousrefs core.whitespace credentialcache.* credentialstore.*
    diff.<driver>.algorithm diff.<driver>.wordregex diff.<driver>.xfuncname diff.algorithm diff.colormoved
    diff.colormovedws diff.context diff.dirstat diff.dstprefix diff.indentheuristic diff.interhunkcontext
    diff.mnemonicprefix diff.noprefix diff.renamelimit diff.renames diff.srcprefix diff.statgraphwidth
    diff.statnamewidth diff.suppressblankempty diff.wordregex diff.wserrorhighlight difftool.guidefault
    extensions.noop extensions.noop-v1 fastimport.* feature.* fetch.all fetch.bundlecreationtoken
    fetch.negotiationalgorithm fetch.output fetch.parallel fetch.prune fetch.prunetags fetch.unpacklimit
    fetch.writecommitgraph format.attach format.commitlistformat format.coverfromdescription format.coverletter
    format.encodeemailheaders format.filenamemaxlength format.forceinbodyfrom format.mboxrd format.noprefix
    format.notes format.numbered format.signature format.signoff format.subjectprefix format.suffix format.thread
    format.useautobase fsmonitor.announcestartup fsmonitor.ipcthreads fsmonitor.starttimeout gc.aggressivedepth
    gc.aggressivewindow gc.autodetach gc.bigpackthreshold gc.cruftpacks gc.logexpiry gc.maxcruftsize gc.packrefs
    gc.rerereresolved gc.rerereunresolved gc.writecommitgraph gitcvs.allbinary gitcvs.commitmsgannotation
    gitcvs.enabled gitcvs.usecrlfattr gitk.* gitweb.avatar gitweb.blame gitweb.category gitweb.description
    gitweb.grep gitweb.highlight gitweb.owner gitweb.patches gitweb.pickaxe gitweb.showsizes
    gitweb.snapshot gitweb.url grep.* gui.* gui.blamehistoryctx gui.commitmsgwidth gui.copyblamethreshold
    gui.diffcontext gui.displayuntracked gui.encoding gui.fastcopyblame gui.gcwarning gui.matchtrackingbranch
    gui.newbranchtemplate gui.pruneduringfetch gui.trustmtime guitool.<name>.argprompt guitool.<name>.confirm
    guitool.<name>.needsfile guitool.<name>.noconsole guitool.<name>.norescan guitool.<name>.prompt
    guitool.<name>.revprompt guitool.<name>.revunmerged guitool.<name>.title help.format hook.<event>.jobs
    hook.<friendly-name>.parallel hook.jobs http.keepalivecount http.keepaliveidle http.keepaliveinterval
    http.lowspeedlimit http.lowspeedtime http.maxrequestbuffer http.maxrequests http.maxretries http.maxretrytime
    http.minsessions http.noepsv http.postbuffer http.retryafter http.sslcerttype http.sslkeytype http.useragent
    http.version i18n.* imap.preformattedhtml index.recordendofindexentries index.recordoffsettable index.skiphash
    index.sparse index.threads index.version init.defaultbranch init.defaultobjectformat init.defaultrefformat
    instaweb.local instaweb.port interactive.singlekey log.abbrevcommit log.decorate log.diffmerges log.follow
    log.graphcolors log.graphindent log.showroot lsrefs.* mailinfo.* maintenance.<task>.enabled
    maintenance.<task>.schedule maintenance.autodetach maintenance.commit-graph.auto
    maintenance.geometric-repack.auto maintenance.geometric-repack.splitfactor maintenance.incremental-repack.auto
    maintenance.loose-objects.auto maintenance.loose-objects.batchsize maintenance.reflog-expire.auto
    maintenance.rerere-gc.auto maintenance.strategy maintenance.worktree-prune.auto merge.<driver>.name
    merge.autostash merge.branchdesc merge.conflictstyle merge.defaulttoupstream merge.diffstat
    merge.directoryrenames merge.ff merge.log merge.renamelimit merge.renames merge.stat merge.summary
    merge.suppressdest merge.verbosity mergetool.<tool>.hideresolved mergetool.guidefault mergetool.keeptemporaries
    mergetool.meld.hasoutput mergetool.meld.useautomerge mergetool.writetotemp notes.<name>.mergestrategy
    notes.mergestrategy notes.rewrite.<command> notes.rewritemode pack.* promisor.quiet protocol.version
    pull.autostash pull.ff pull.rebase push.autosetupremote push.negotiate push.usebitmaps rebase.abbreviatecommands
    rebase.autosquash rebase.autostash rebase.backend rebase.forkpoint rebase.instructionformat
    rebase.maxlabellength rebase.rebasemerges rebase.reschedulefailedexec rebase.stat receive.advertiseatomic
    receive.autogc receive.keepalive receive.unpacklimit reftable.* remote.<name>.negotiationinclude
    remote.<name>.negotiationrestrict remote.<name>.prune remote.<name>.prunetags remote.<name>.skipdefaultupdate
    remote.<name>.skipfetchall repack.* revert.* sendemail.annotate sendemail.chainreplyto sendemail.confirm
    sendemail.multiedit sendemail.outlookidfix sendemail.signedoffbycc sendemail.smtpbatchsize
    sendemail.smtprelogindelay sendemail.suppresscc sendemail.suppressfrom sendemail.thread
    sendemail.transferencoding sendemail.useimaponly sendemail.xmailer sendpack.* showbranch.* splitindex.* ssh.*
    stash.* status.aheadbehind status.branch status.color status.comparebranches status.displaycommentprefix
    status.relativepaths status.renamelimit status.renames status.short status.showstash submodule.fetchjobs
    tag.sort tar.umask trailer.<key-alias>.ifexists trailer.<key-alias>.ifmissing trailer.<key-alias>.key
    trailer.<key-alias>.where trailer.ifexists trailer.ifmissing trailer.separators trailer.where
    transfer.advertisesid transfer.unpacklimit uploadpack.keepalive versionsort.* worktree.*
  `,
};

/** Keys of other tools that only remember something about a branch or remote. */
export const OTHER_TOOLS_HARMLESS = `branch.<name>.gh-merge-base branch.<name>.vscode-merge-base
  branch.<name>.gk-merge-base remote.<name>.gh-resolved remote.<name>.glab-resolved lfs.concurrenttransfers
  lfs.fetchrecentrefsdays lfs.repositoryformatversion gui.geometry gui.wmstate`;
