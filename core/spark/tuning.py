"""Settings of Spark and of the JVM that it runs in."""

from collections.abc import Mapping

# Settings of a session, ours or a Connect server's.
SESSION_CONF: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    # This rule computes on a table that came from the driver while it plans: interpreted, in one
    # thread, again for each query. 100,000 rows take 0.2 s as a job and 1.5 s as a "plan".
    "spark.sql.optimizer.excludedRules": (
        "org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation"
    ),
    # Parameters are bound in the parsed query; else Spark writes them into its text, which it then
    # parses again.
    "spark.sql.legacy.parameterSubstitution.constantsOnly": "true",
    # A small hash map before the real one is for few keys; a window of commits has more points
    # than fit it, and each row would be looked up in both: a quarter of the time of a scan.
    "spark.sql.codegen.aggregate.map.twolevel.enabled": "false",
    # A table from the driver that is larger than this (bytes) stays Arrow and is decoded by the
    # tasks that read it. Spark's 48 MB would be rows in the driver, written into every task anew.
    "spark.sql.execution.arrow.localRelationThreshold": "100000",
}

# Settings of every session that we start ourselves; a user's own come after.
COMMON_CONF: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Else each function called on a column tells the JVM where in Python it was called, for a line
    # in error messages that nobody is shown: more than half of all calls to the JVM.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # Spark looks over the whole plan after each rule, to find rules that are wrong.
    "spark.sql.lightweightPlanChangeValidation": "false",
    # What is read of a broken file is a wrong answer, so broken files are found before (collect).
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.parquet.filterPushdown": "true",
}

# On this machine planning again between stages and jobs that list files take longer than the work.
LOCAL_CONF: Mapping[str, str] = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
}

# Of a table so small that all of it is one task, also on a Connect server.
SMALL_CONF: Mapping[str, str] = {
    **LOCAL_CONF,
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # Spark shuffles two sides of one partition each before it joins them if they may be large, and
    # of a table from the driver, or of a join, it does not know.
    "spark.sql.defaultSizeInBytes": "1",
    "spark.sql.maxSinglePartitionBytes": "1000000g",
}

# What is sorted and hashed lies outside the heap: there no collector copies it.
LARGE_CONF: Mapping[str, str] = {
    "spark.memory.offHeap.enabled": "true",
    "spark.memory.offHeap.size": "2g",
}

# The room for classes that the JVM starts with is full twice before Spark's fit, and each time the
# whole heap is collected.
FLAGS = ("-XX:MetaspaceSize=256m",)
# The serial collector and the first compiler alone start fastest.
SMALL_FLAGS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
# The optimising compiler takes a quarter of a large report's processor time, much of it for code
# that is hardly run: it is to look at four times as many calls first.
LARGE_FLAGS = (
    "-XX:+UseParallelGC",
    "-XX:Tier4InvocationThreshold=20000",
    "-XX:Tier4MinInvocationThreshold=5000",
    "-XX:Tier4CompileThreshold=60000",
    "-XX:Tier4BackEdgeThreshold=160000",
)
