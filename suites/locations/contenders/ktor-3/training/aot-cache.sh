#!/bin/sh
# Builds the jar, and beside it an AOT cache: classes loaded and linked, and profiles of methods, from a training run.
set -eu
mvn --quiet --batch-mode package
folder=$PWD/target/aot-cache
rm -rf "$folder"
mkdir "$folder"
cp target/locations-ktor-3.jar "$folder/app.jar"
# The JVM refuses the cache where the jar's time is another. In images every file has this one.
touch -d @0 "$folder/app.jar"
java training/Train.java "-XX:AOTCacheOutput=$folder/app.aot" -jar "$folder/app.jar"
test -s "$folder/app.aot"
