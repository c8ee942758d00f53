"""KataGo's names of settings: those of `overrideSettings`, of its .cfg files and of -override-config.

A name stands for a setting of ours, or for a limit or a view of one query; some are known to have no meaning here and
are passed over in silence when they stand in a file, since such files are written for another program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.config import describe
from engine.errors import ConfigError
from engine.files import read_small, reason
from engine.search.params import SearchParams

SETTINGS = {
    "maxVisits": "player.visits",
    "maxTime": "player.time",
    "reportAnalysisWinratesAs": "analysis.winrates_as",
    "analysisPVLen": "analysis.pv_length",
    "warnUnusedFields": "analysis.warn_unused",
    "wideRootNoise": "search.wide_root_noise",
    "analysisWideRootNoise": "search.wide_root_noise",
    "cpuctExploration": "search.cpuct",
    "cpuctExplorationLog": "search.cpuct_log",
    "cpuctExplorationBase": "search.cpuct_base",
    "cpuctUtilityStdevScale": "search.cpuct_stdev_scale",
    "cpuctUtilityStdevPrior": "search.cpuct_stdev_prior",
    "fpuParentWeightByVisitedPolicyPow": "search.fpu_mean_power",
    "valueWeightExponent": "search.value_weight_power",
    "noisePruneUtilityScale": "search.noise_prune_scale",
    "useGraphSearch": "search.graph",
    "useUncertainty": "search.uncertainty",
    "uncertaintyCoeff": "search.uncertainty_coeff",
    "uncertaintyExponent": "search.uncertainty_exponent",
    "uncertaintyMaxWeight": "search.uncertainty_max_weight",
    "subtreeValueBiasFactor": "search.bias_share",
    "nnPolicyTemperature": "search.policy_temperature",
    "fpuReductionMax": "search.fpu_reduction",
    "rootFpuReductionMax": "search.root_fpu_reduction",
    "winLossUtilityFactor": "search.win_loss_utility",
    "staticScoreUtilityFactor": "search.static_score_utility",
    "dynamicScoreUtilityFactor": "search.dynamic_score_utility",
    "dynamicScoreCenterScale": "search.dynamic_score_scale",
    "dynamicScoreCenterZeroWeight": "search.dynamic_score_zero_weight",
    "useLcbForSelection": "search.use_lcb",
    "lcbStdevs": "search.lcb_stdevs",
    "minVisitPropForLCB": "search.lcb_min_visits",
    "conservativePass": "search.conservative_pass",
    "rootNumSymmetriesToSample": "search.root_symmetries",
}
"""KataGo's name → section.key. In a query, all of `search` and the first four; in a file, all."""

IN_QUERIES = {"maxPlayouts": "playouts", "rootPolicyTemperature": "policy_temperature"}
"""Names that only a query knows."""

WITHOUT_MEANING = frozenset(
    """
    logDir logDirDated logFile logToStdout logToStderr logAllRequests logAllResponses logErrorsAndWarnings logSearchInfo
    logAllGTPCommunication logTimeStamp logConfigContents logSearchInfoForChosenMove logAllGTPCommunication
    homeDataDir numAnalysisThreads numSearchThreads numSearchThreadsPerAnalysisThread nnMaxBatchSize
    nnCacheSizePowerOfTwo nnMutexPoolSizePowerOfTwo numNNServerThreadsPerModel nnRandomize nnRandSeed searchRandSeed
    numVirtualLossesPerThread virtualLoss maxBoardXSizeForNNBuffer maxBoardYSizeForNNBuffer maxBoardSizeForNNBuffer
    requireMaxBoardSize gpuToUse deviceToUse subtreeValueBiasWeightExponent
    graphSearchRepBound graphSearchCatchUpLeakProb useNoisePruning noisePruningCap
    cpuctUtilityStdevPriorWeight fpuParentWeight fpuParentWeightByVisitedPolicy
    fpuLossProp rootFpuLossProp rootDesiredPerChildVisitsCoeff
    rootEndingBonusPoints rootPruneUselessMoves rootSymmetryPruning treeReuseCarryOverTimeFactor
    rootPolicyOptimism policyOptimism antiMirror enablePassingHacks enableMorePassingHacks fillDameBeforePass
    preventCleanupPhase ignorePreRootHistory ignoreAllHistory noResultUtilityForWhite drawEquivalentWinsForWhite
    playoutDoublingAdvantage dynamicPlayoutDoublingAdvantageCapPerOppLead
    playoutDoublingAdvantagePla chosenMoveTemperature chosenMoveTemperatureEarly chosenMoveTemperatureHalflife
    chosenMoveSubtract chosenMovePrune rootNoiseEnabled nodeTableShardsPowerOfTwo avoidMYTDaggerHack
    allowResignation resignThreshold resignConsecTurns resignMinScoreDifference resignMinMovesPerBoardArea
    ponderingEnabled maxTimePondering maxVisitsPondering maxPlayoutsPondering lagBuffer searchFactorAfterOnePass
    searchFactorAfterTwoPass searchFactorWhenWinning searchFactorWhenWinningThreshold rules koRule scoringRule taxRule
    multiStoneSuicideLegal hasButton whiteHandicapBonus friendlyPassOk maxPlayouts rootPolicyTemperature
    rootPolicyTemperatureEarly humanSLProfile humanSLRootExploreProbWeightless humanSLRootExploreProbWeightful
    humanSLPlaExploreProbWeightless humanSLPlaExploreProbWeightful humanSLOppExploreProbWeightless
    humanSLOppExploreProbWeightful humanSLCpuctExploration humanSLCpuctPermanent humanSLChosenMoveProp
    humanSLChosenMoveIgnorePass humanSLChosenMovePiklLambda ogsChatToStderr assumeMultipleStartingBlackMovesAreHandicap
    """.split()  # noqa: SIM905
)
PREFIXES = ("cuda", "trt", "opencl", "eigen", "metal", "nnRandom", "gpuToUse", "deviceToUse", "onnx", "rocm", "mlx")

Layer = dict[str, dict[str, Any]]


@dataclass(slots=True)
class Overrides:
    """What `overrideSettings` of one query asks for."""

    search: dict[str, Any] = field(default_factory=dict)  # keys of section search
    other: dict[str, Any] = field(default_factory=dict)  # visits, time, winrates_as, pv_length, playouts, …
    unknown: list[str] = field(default_factory=list)


def read_overrides(values: Mapping[str, Any]) -> Overrides:
    """Sort the keys of `overrideSettings`: KataGo's names, or ours as `search.key`."""
    found = Overrides()
    for name, value in values.items():
        section, _, key = SETTINGS.get(name, name).partition(".")
        if name in IN_QUERIES:
            found.other[IN_QUERIES[name]] = value
        elif section == "search" and key in describe(SearchParams):
            found.search[key] = value
        elif name in SETTINGS and name != "warnUnusedFields":
            found.other[key] = value
        else:
            found.unknown.append(name)
    return found


def read_cfg(path: str | Path, _depth: int = 0) -> dict[str, str]:
    """Read a KataGo .cfg: `key = value` lines, # comments, @include. Raises ConfigError naming file and line."""
    if _depth > 8:
        raise ConfigError(f"{path}: files include each other too deeply")
    try:
        text = read_small(path).decode("utf-8-sig", errors="replace")
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {path}: {reason(error)}") from None
    values: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        if line.startswith("@include"):
            name = line.removeprefix("@include").strip().lstrip("=").strip().strip('"')
            values |= read_cfg(Path(path).parent / name, _depth + 1)
            continue
        key, equals, value = line.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"{path}, line {number}: a setting is written KEY = VALUE: {line[:80]}")
        values[key.strip()] = value.strip().strip('"')
    return values


def parse_override(text: str) -> dict[str, str]:
    """Read what follows -override-config: K=V,K=V. Raises ConfigError."""
    values = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"-override-config: {part!r} is not KEY=VALUE")
        values[key.strip()] = value.strip()
    return values


def as_layer(values: Mapping[str, str]) -> tuple[Layer, list[str]]:
    """Return our settings for a file of KataGo's, and the names in it that nobody knows."""
    layer: Layer = {}
    unknown = []
    for name, value in values.items():
        section, dot, key = SETTINGS.get(name, name).partition(".")
        if dot:
            layer.setdefault(section, {})[key] = value.lower() if key == "winrates_as" else value
        elif name not in WITHOUT_MEANING and not name.startswith(PREFIXES):
            unknown.append(name)
    return layer, unknown


def list_of(names: Iterable[str], most: int = 12) -> str:
    """Write names for a message, the first of them where there are many."""
    found = list(names)
    return ", ".join(found[:most]) + (f" and {len(found) - most} more" if len(found) > most else "")
